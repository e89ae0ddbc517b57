"""From a prior file on disk to a scenario: reading, shape, units, elicitation, dependence; all faults are collected."""
