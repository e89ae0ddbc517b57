"""From a scenario to draws: points, dependence, quantile functions and formulas in one jitted kernel."""
