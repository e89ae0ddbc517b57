// Every text of the page, HTML or SVG, and every line and area of a figure, with its contrast against what is behind it.
const luminance = ([r, g, b]) => {
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const parsed = (text) => {
  const found = text.match(/rgba?\(([^)]*)\)/);
  if (!found) return null;
  const parts = found[1].split(/[\s,\/]+/).map(Number);
  return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
};
const over = (rgb, alpha, below) => rgb.map((part, place) => alpha * part + (1 - alpha) * below[place]);
const behind = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const colour = parsed(getComputedStyle(one).backgroundColor);
    if (colour && colour.alpha === 1) return colour.rgb;
  }
  return [255, 255, 255];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement;
  if (!node.data.trim() || !element.checkVisibility() || element.closest("title, desc, .skip")) continue;
  const style = getComputedStyle(element);
  const colour = parsed(element.closest("svg") ? style.fill : style.color);
  const ground = behind(element);
  found.push({ what: "text", name: node.data.trim().slice(0, 40), contrast: contrast(over(colour.rgb, colour.alpha, ground), ground) });
}
for (const shape of document.querySelectorAll("svg path, svg use")) {
  const style = getComputedStyle(shape);
  const ground = behind(shape);
  const inks = [["fill", style.fillOpacity], ["stroke", style.strokeOpacity]];
  const seen = inks.flatMap(([kind, opacity]) => {
    const colour = parsed(style[kind]);
    if (!colour || style[kind] === "none" || shape.closest("defs, clipPath")) return [];
    if (kind === "stroke" && !(parseFloat(style.strokeWidth) > 0)) return [];
    return [contrast(over(colour.rgb, colour.alpha * opacity * style.opacity, ground), ground)];
  });
  if (seen.length) found.push({ what: "ink", name: `${shape.closest("svg").id} ${shape.closest("g[id]").id}`, contrast: Math.max(...seen) });
}
return found;
