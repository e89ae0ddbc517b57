"""The shape of the package: data flows one way, starting up stays cheap, and drawing needs little besides JAX."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from pathlib import Path
from statistics import NormalDist, mean, stdev

import pytest

import uncertain_botec
from uncertain_botec.cli.listing import Kind

PACKAGE = Path(uncertain_botec.__file__).parent

# In the order of the data flow: a module may import from its own line and from those above it.
FLOW = (
    ("errors",),
    ("library", "compilation", "csv_files"),
    ("units",),
    ("quantities",),
    ("vocabulary",),
    ("tables",),
    ("choices",),
    ("formulas",),
    ("architecture",),
    ("planning",),
    ("estimators",),
    ("distributions",),
    ("dependence",),
    ("scenario",),
    ("reference",),
    ("prior_files",),
    ("draws",),
    ("tallies",),
    ("sampling",),
    ("inference",),
    ("summaries",),
    ("forecasting", "sensitivity"),
    ("calibration",),
    ("explain",),
    ("risk",),
    ("updating",),
    ("presentation", "sizing"),
    ("decisions",),
    ("risk_table", "sensitivity_table", "calibration_table", "update_table"),
    ("backtest_table", "comparison_table", "solution_table", "sweep_table"),
    ("plots",),
    ("folders", "output"),
    ("report",),
    ("cli", "__main__"),
)
RANK = {name: rank for rank, names in enumerate(FLOW) for name in names}

# Texts for people are made at the end; a summary only knows how to ask for its own.
ASKS_TO_BE_SHOWN = {
    ("summaries", "presentation"),
    ("risk", "risk_table"),
    ("sensitivity", "sensitivity_table"),
    ("updating", "update_table"),
    ("decisions", "comparison_table"),
    ("decisions", "solution_table"),
    ("decisions", "sweep_table"),
    ("calibration", "backtest_table"),
    ("calibration", "calibration_table"),
}


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


# --- starting up ------------------------------------------------------------------------------------------------------

# What takes long to load, and is loaded only where it is used.
HEAVY = (
    "arviz", "arviz_base", "arviz_stats", "jax", "jinja2", "matplotlib", "numba", "numpyro", "pandas", "pint",
    "pydantic", "rich", "scipy.optimize", "scipy.stats", "tomli_w", "typer", "xarray",
)  # fmt: skip

# What each may load of these; public names that are not here, none.
NAMES = {
    "analyse_sensitivity": "jax",
    "estimate_many": "jax",
    "forecast": "jax",
    "load_scenario": "pydantic",
    "sample": "jax",
}

STATEMENTS = {
    "import uncertain_botec": "",
    "import uncertain_botec.architecture": "",
    "import uncertain_botec.distributions": "",
    "import uncertain_botec.estimators": "",
    "import uncertain_botec.backtest_table": "",
    "import uncertain_botec.comparison_table, uncertain_botec.solution_table, uncertain_botec.sweep_table": "",
    "import uncertain_botec.explain": "",
    "import uncertain_botec.output": "",
    "import uncertain_botec.presentation": "",
    "import uncertain_botec.plots": "",
    "import uncertain_botec.report": "",
    "import uncertain_botec.risk.review": "",
    "import uncertain_botec.risk_table": "",
    "import uncertain_botec.sensitivity.result": "",
    "import uncertain_botec.sensitivity_table": "",
    "import uncertain_botec.update_table": "",
    "import uncertain_botec.cli.app": "typer",
    "from uncertain_botec import load_scenario; load_scenario('llama-2-70b')": "pint pydantic",
}

# Typer checks arguments by pydantic.
COMMANDS = {
    "--version": "typer",
    "--help": "rich typer",
    "forecast --help": "pydantic rich typer",
    "risk --help": "pydantic rich typer",
    "sensitivity --help": "pydantic rich typer",
    "report --help": "pydantic rich typer",
    "compare --help": "pydantic rich typer",
    "solve --help": "pydantic rich typer",
    "sweep --help": "pydantic rich typer",
    "update --help": "pydantic rich typer",
    "backtest --help": "pydantic rich typer",
    **{f"list {kind.value}": "pydantic rich typer" for kind in Kind},
    "list runs --json": "pydantic typer",
    "schema": "pydantic typer",
    "new a.toml": "pydantic typer",
    "check llama-2-70b": "pint pydantic typer",
    "explain llama-2-70b": "pint pydantic rich typer",
    "explain llama-2-70b --json": "pint pydantic typer",
}


def _run(code: str, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter's answer."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, timeout=120)


def _loads(statement: str, may: str) -> None:
    code = f"{statement}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    assert {*_run(code).stdout.split()} <= {*may.split()}


@pytest.mark.parametrize("name", uncertain_botec.__all__)
def test_public_names_load_what_they_use(name: str) -> None:
    """JAX is for drawing alone, pydantic for prior files alone; the rest waits until something is shown or written."""
    _loads(f"from uncertain_botec import {name}", NAMES.get(name, ""))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_start_is_cheap(statement: str) -> None:
    """Whole modules, and reading a shipped run, load no more than they use."""
    _loads(statement, STATEMENTS[statement])


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_draw_nothing_start_at_once(command: str, tmp_path: Path) -> None:
    """Looking things up, checking and explaining load neither JAX nor ArviZ, and rich only to print a table."""
    code = "import sys, atexit\n"
    code += f"atexit.register(lambda: print(*({{*{HEAVY!r}}} & {{*sys.modules}}), file=sys.stderr))\n"
    code += f"sys.argv = ['botec', *{command.split()!r}]\nfrom uncertain_botec.cli import main\nmain()"
    result = _run(code, folder=tmp_path)
    assert result.stdout
    assert {*result.stderr.splitlines()[-1].split()} <= {*COMMANDS[command].split()}


# --- drawing in a JAX image -------------------------------------------------------------------------------------------

# JAX, numpyro, NumPy, SciPy, and what these need.
IMAGE = ("jax", "jaxlib", "ml_dtypes", "multipledispatch", "numpy", "numpyro", "opt_einsum", "scipy", "tqdm")

# Nothing else is there any more, also for those who only ask whether it is.
BARE = f"""
import sys
from importlib.machinery import PathFinder

THERE = {{*sys.stdlib_module_names, "uncertain_botec", *{IMAGE!r}}}

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        # One module of the standard library has its platform in its name.
        there = name.partition(".")[0] in THERE or name.startswith("_sysconfigdata")
        return super().find_spec(name, path, target) if there else None

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
"""

DRAW = """
import json
import uncertain_botec.estimators
import uncertain_botec.formulas
from uncertain_botec.choices import resolved
from uncertain_botec.distributions import elicit
from uncertain_botec.sampling.engine import sample
from uncertain_botec.scenario import Input, Scenario

stated, limit = json.loads(sys.argv[1])
inputs = {name: Input(name, one, elicit(one["family"], one), "") for name, one in stated.items()}
draws = sample(Scenario("Bare", "training", inputs, resolved({})), 1 << 17)
before = "numpyro" in sys.modules
density = inputs["mfu"].distribution.to_numpyro().log_prob(stated["mfu"]["median"])
kept = (draws.values["cost"] <= limit).mean(axis=1)
print(json.dumps({"kept": kept.tolist(), "numpyro": before, "density": float(density)}))
"""

# Medians in base units, and sigmas.
LOGNORMALS = {
    "parameters": (70e9, 0.05),
    "tokens": (2e12, 0.1),
    "peak_flop_per_s": (312e12, 0.02),
    "mfu": (0.4, 0.15),
    "price_per_accelerator_hour": (2 / 3600, 0.3),
}
FIXED = {"accelerators": 2048.0, "failure_overhead": 0.1, "on_demand_share": 1.0}


@pytest.mark.parametrize("name", ["pint", "pydantic", "rich", "xarray"])
def test_the_image_is_bare(name: str) -> None:
    """What the next test forgoes cannot be imported there, while the standard library can."""
    code = f"{BARE}\nimport importlib.util, sysconfig, tomllib\nsysconfig.get_config_vars()\n"
    assert _run(f"{code}print(importlib.util.find_spec({name!r}))").stdout.strip() == "None"


def test_the_engine_runs_in_a_bare_jax_image() -> None:
    """A scenario made in Python is drawn with JAX, NumPy and SciPy alone: P90 of its cost is the closed form's.

    The cost 6 N D (1 + overhead) / (peak MFU) * price is a product of lognormals, whose logarithms' variances add up.
    numpyro comes in only where a distribution is turned into one of its own.
    """
    flop, seconds = 6 * LOGNORMALS["parameters"][0] * LOGNORMALS["tokens"][0], 1 + FIXED["failure_overhead"]
    speed = LOGNORMALS["peak_flop_per_s"][0] * LOGNORMALS["mfu"][0]
    median = flop / speed * seconds * LOGNORMALS["price_per_accelerator_hour"][0]
    p90 = median * math.exp(NormalDist().inv_cdf(0.9) * math.hypot(*(sigma for _, sigma in LOGNORMALS.values())))
    stated = {name: {"family": "lognormal", "median": m, "sigma": s} for name, (m, s) in LOGNORMALS.items()}
    stated |= {name: {"family": "fixed", "value": value} for name, value in FIXED.items()}
    result = json.loads(_run(BARE + DRAW, json.dumps([stated, p90])).stdout)
    error = stdev(result["kept"]) / math.sqrt(len(result["kept"]))
    assert error < 1e-3
    assert abs(mean(result["kept"]) - 0.9) < 4 * error
    assert not result["numpyro"]
    m, s = LOGNORMALS["mfu"]
    assert result["density"] == pytest.approx(-math.log(m * s * math.sqrt(2 * math.pi)), rel=1e-6)
