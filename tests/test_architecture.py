"""The shape of the package: data flows one way, and starting up stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import uncertain_botec

PACKAGE = Path(uncertain_botec.__file__).parent

# In the order of the data flow: a module may import from its own line and from those above it.
FLOW = (
    ("errors",),
    ("library",),
    ("units",),
    ("quantities",),
    ("vocabulary",),
    ("tables",),
    ("choices",),
    ("formulas",),
    ("architecture",),
    ("estimators",),
    ("distributions",),
    ("dependence",),
    ("scenario",),
    ("prior_files",),
    ("draws",),
    ("sampling",),
    ("summaries",),
    ("explain", "presentation", "sizing"),
    ("output",),
    ("cli", "__main__"),
)
RANK = {name: rank for rank, names in enumerate(FLOW) for name in names}

# Texts for people are made at the end; a summary only knows how to ask for its own.
ASKS_TO_BE_SHOWN = {("summaries", "presentation")}


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """Every module of this package that a file imports, also inside functions and for type checking."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("uncertain_botec"):
            below = node.module.removeprefix("uncertain_botec").removeprefix(".")
            names |= {below.split(".")[0]} if below else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("uncertain_botec.")}
    return names & RANK.keys()


# All but the package's public names, which come from everywhere.
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_data(path: Path) -> None:
    """No module imports one that comes later in the flow of data."""
    part = _part(path)
    assert part in RANK, f"{part} has no place in the flow of data"
    later = {name for name in _imports(path) if RANK[name] > RANK[part] and (part, name) not in ASKS_TO_BE_SHOWN}
    assert not later


@pytest.mark.parametrize(
    "statement",
    [
        "import uncertain_botec",
        "from uncertain_botec import load_scenario; load_scenario('llama-2-70b')",
        "import uncertain_botec.distributions",
        "import uncertain_botec.cli.app",
        "import uncertain_botec.explain",
    ],
)
def test_start_is_cheap(statement: str) -> None:
    """Nothing but sampling imports JAX, and nothing before the summary imports ArviZ or scipy.stats."""
    heavy = ("jax", "numpyro", "arviz_stats", "arviz_base", "xarray", "matplotlib", "scipy.stats", "pandas")
    code = f"{statement}\nimport sys\nprint([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("command", [["--help"], ["list", "runs"], ["list", "families"], ["schema"], ["new", "a.toml"]])
def test_commands_that_need_no_jax_do_not_import_it(command: list[str], tmp_path: Path) -> None:
    """Looking things up answers at once."""
    code = "import sys, atexit; atexit.register(lambda: sys.stderr.write(str('jax' in sys.modules)))\n"
    code += f"sys.argv = ['botec', *{command!r}]\nfrom uncertain_botec.cli import main\nmain()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert result.stdout
    assert result.stderr.endswith("False")
