"""Write what was published about finished runs beside what is forecast: `python tools/published_table.py`."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path

from uncertain_botec import load_scenario, sample, summarize
from uncertain_botec.summaries import ObservedSummary, OutputSummary, Summary

DRAWS, SEED = 2**16, 0
TABLE = Path(__file__).parents[1] / "docs" / "published-runs.md"

RUNS = {
    "llama-2-7b": "Llama 2 7B",
    "llama-2-13b": "Llama 2 13B",
    "llama-2-70b": "Llama 2 70B",
    "llama-3.1-405b": "Llama 3.1 405B",
    "deepseek-v3": "DeepSeek-V3",
    "bloom-176b": "BLOOM 176B",
}

# Title of each output's section, and what its printed unit is divided by there.
OUTPUTS = {
    "accelerator_hours": ("Accelerator-hours, thousands", 1000),
    "training_time": ("Days", 1),
    "energy": ("Energy, MWh", 1),
    "emissions": ("Emissions, tonnes of CO2 equivalent", 1),
}

# Where the cluster is published, hours over accelerators say something about the days: the days, or the least of them
# where the cluster is the largest that worked on the run.
DAYS_FROM_CLUSTER = {"llama-3.1-405b": "at least ", "deepseek-v3": ""}

# The power by accelerator, W, behind the authors' energy or emissions; the runs have the sources.
STATED_POWER = {"llama-2-7b": 400, "llama-2-13b": 400, "llama-2-70b": 400, "llama-3.1-405b": 700, "bloom-176b": 400}

# What BLOOM's authors add to hours x 400 W for idle nodes and the like, MWh (arXiv 2211.02001, at emergentmind.com).
BLOOM_IDLE = 256.646

# Why a figure lies outside the central 80 %: whichever does must be accounted for here.
OUTSIDE = {
    ("deepseek-v3", "accelerator_hours"): (
        "MFU is believed from six other mixture-of-experts runs, all far less efficient, and the hours show no"
        " downtime, being what 3.7 days by trillion tokens make"
    ),
}

HEAD = """\
# Published runs against the forecast

Written by `python tools/published_table.py` from 2^16 draws with seed 0; do not edit. Each run is a shipped prior file,
where the published figures stand under `[observed]` with their sources. No run is among those behind its own beliefs
about efficiency and failures, nor is a sibling of its generation. The percentile is the part of the draws below the
published figure: were the forecasts right, one figure in ten would lie below 10 and one in ten above 90.

Hours and days are the authors' records. No published energy or emission is a measurement: all are computed from the
hours and the design power of the accelerator. What is forecast is the draw of the site, with the rest of the node and
the cooling: about half as much again."""


@dataclass(frozen=True)
class Line:
    """One output of one run.

    Attributes:
        run, output: their names.
        forecast: what is forecast.
        observed: the published figure and where it lies, or None.
        basis: where the published figure is from, or what there is in its place.
    """

    run: str
    output: str
    forecast: OutputSummary
    observed: ObservedSummary | None
    basis: str


def main() -> None:
    """Write the table."""
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(), "utf-8")


def table() -> str:
    """The whole file."""
    summaries = {run: summarize(sample(load_scenario(run), DRAWS, seed=SEED)) for run in RUNS}
    lines = [
        Line(run, output, summary.outputs[output], summary.observed.get(output), _basis(run, output, summary))
        for run, summary in summaries.items()
        for output in OUTPUTS
    ]
    sections = [_section(output, [line for line in lines if line.output == output]) for output in OUTPUTS]
    return "\n\n".join((HEAD, *sections, _wrapped(_verdict(lines, summaries)))) + "\n"


def _wrapped(text: str) -> str:
    return "\n\n".join(textwrap.fill(part, 120, break_on_hyphens=False) for part in text.split("\n\n"))


def _basis(run: str, output: str, summary: Summary) -> str:
    published = output in summary.observed
    hours = summary.observed["accelerator_hours"].value
    if output == "accelerator_hours":
        return "reported"
    if output == "training_time":
        return "reported" if published else _days(run, hours, summary)
    if run not in STATED_POWER:
        return ""
    product = f"hours x {STATED_POWER[run]} W"
    energy = hours * STATED_POWER[run] / 1e6
    if output == "energy":
        return f"computed: {product}" if published else f"{product} are {_short(energy)}"
    return f"computed: {product}; {summary.observed['emissions'].value / energy:.3f} t/MWh follow"


def _days(run: str, hours: float, summary: Summary) -> str:
    accelerators = summary.scenario.inputs["accelerators"].distribution.mean()
    if run not in DAYS_FROM_CLUSTER:
        return f"nor is the cluster: {accelerators:,.0f} accelerators are assumed"
    return f"hours over {accelerators:,.0f} accelerators: {DAYS_FROM_CLUSTER[run]}{_short(hours / accelerators / 24)}"


def _section(output: str, lines: list[Line]) -> str:
    title, divisor = OUTPUTS[output]
    rows = [
        f"## {title}\n",
        "| run | published | P10 | P50 | P90 | percentile | basis of the published figure |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for line in lines:
        levels = [_short(level / divisor) for level in (line.forecast.p10, line.forecast.p50, line.forecast.p90)]
        figure, place = "not published", "-"
        if line.observed is not None:
            figure, place = f"{line.observed.value / divisor:,.6g}", f"{line.observed.percentile:.0f}"
        rows.append(f"| {' | '.join((RUNS[line.run], figure, *levels, place, line.basis or '-'))} |")
    return "\n".join(rows)


def _verdict(lines: list[Line], summaries: dict[str, Summary]) -> str:
    known = {(line.run, line.output): line.observed.percentile for line in lines if line.observed is not None}
    hours = [percentile for (_, output), percentile in known.items() if output == "accelerator_hours"]
    outside = [
        f"{RUNS[run]}'s {output.replace('_', '-')} at percentile {percentile:.0f}: {OUTSIDE[run, output]}"
        for (run, output), percentile in known.items()
        if not 10 <= percentile <= 90
    ]
    bloom, llama = summaries["bloom-176b"], summaries["llama-3.1-405b"]
    whole = bloom.observed["energy"].value + BLOOM_IDLE
    record, goodput = llama.observed["cluster_mtbf"], llama.observed["goodput"]
    return f"""\
## What to make of it

Of {len(known)} published figures {len(known) - len(outside)} lie within the central 80 % of their forecasts.
Outside: {"; ".join(outside) or "none"}.

Of {len(hours)} published hours {sum(percentile < 50 for percentile in hours)} lie below the median. The beliefs come
from the runs of the kind whose hours are known, and these six, the most famous, may well be better tuned than most;
for a run of which no more is known than the accelerator, the range is meant to lie where it does. Nor are they six
independent trials: three are sisters.

MWh and tonnes lie lower than the hours, because the published ones leave out what the forecast has in it: on their own
basis, hours times a constant, they would lie where the hours do. BLOOM's authors also give what idle nodes and the like
drew: {_short(whole)} MWh in all, where the median of the forecast is {_short(bloom.outputs["energy"].p50)}. How far
the sites' overhead is in the tonnes of the Llama models their cards do not say.

Llama 3.1 405B is forecast with the failures of other clusters. Its own record of 54 days, {record.value:.2f} hours
between unexpected interruptions, lies at percentile {record.percentile:.0f}, and the {100 * goodput.value:.0f} % of
effective time that it exceeded at {goodput.percentile:.0f}: beliefs about failures are wide, and at 2,048 nodes they
are felt."""


def _short(value: float) -> str:
    """Three significant digits, without an exponent."""
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{float(f'{value:.3g}'):,.{digits}f}"


if __name__ == "__main__":
    main()
