"""Layer 3a: differentiable symbolic trees, in the words of the DGP paper."""
