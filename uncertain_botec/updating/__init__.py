"""A running run's log turns priors into a posterior forecast: reading it, the model, and what follows for the end."""
