"""Models: settings, vocabulary, weights, model files, inference in NumPy, and search."""
