"""What a model is: settings, vocabulary, weights, its file, inference in NumPy, search."""
