"""Pure functions from named quantities to named quantities, one file per kind of quantity."""
