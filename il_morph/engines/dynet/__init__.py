"""The engine of the paper: DyNet."""
