"""Layer 4: the one loop, and the searches that run in it."""
