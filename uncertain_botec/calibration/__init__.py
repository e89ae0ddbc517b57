"""Priors learnt from published runs, and how well they would have foretold each of them."""
