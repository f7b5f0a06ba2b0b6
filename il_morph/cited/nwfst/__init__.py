"""NWFST: a lattice of edits with neural weights (Rastogi, Cotterell & Eisner 2016)."""
