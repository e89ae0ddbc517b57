"""From a prior file on disk to a scenario: reading, shape, units, elicitation and dependence, with all faults collected."""
