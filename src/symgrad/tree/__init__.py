"""Layer 1: formulas as immutable trees, one by one and in batches."""
