"""Systems of other papers, each in a folder of its own; the core imports none of them, a registry finds them."""
