"""The systems of other papers, one package each. The core does not import them; `model.registry` finds them."""
