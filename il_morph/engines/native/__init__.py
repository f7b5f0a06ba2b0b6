"""Training without DyNet: hand-written backpropagation in NumPy, compiled where Numba is installed."""
