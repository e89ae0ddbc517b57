"""The risk review: what a budget and a deadline are worth, from draws to a table or a gate for requirements."""
