"""Imitation learning for neural morphological string transduction."""

__version__ = "1.0.0"


def load(path):
    """Load a trained model: `il_morph.load(path).predict([("walk", "V;PST")])`."""
    from il_morph.model.predictor import Predictor

    return Predictor.load(path)
