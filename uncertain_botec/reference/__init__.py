"""The reference class: what published runs say of one further run, given its accelerator, architecture and size."""
