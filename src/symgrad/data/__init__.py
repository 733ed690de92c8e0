"""Layer 2: validated data, and the scores of forests on it."""
