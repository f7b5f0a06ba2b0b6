"""The tables of the paper: runs, figures, layout."""
