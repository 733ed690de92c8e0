"""Layer 0: primitives, the grammar of formulas, and the one fold over them."""
