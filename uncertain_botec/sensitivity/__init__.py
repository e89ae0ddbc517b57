"""What drives an output, and what it is worth to know more before deciding."""
