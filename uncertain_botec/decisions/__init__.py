"""Decisions: runs compared, a run over a grid of choices, and the value of an input that a requirement takes."""
