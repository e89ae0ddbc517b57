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
    ("library", "compilation"),
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
    ("tallies",),
    ("sampling",),
    ("summaries",),
    ("forecasting", "sensitivity"),
    ("explain",),
    ("risk",),
    ("presentation", "sizing"),
    ("decisions",),
    ("risk_table", "sensitivity_table"),
    ("comparison_table", "solution_table", "sweep_table"),
    ("plots",),
