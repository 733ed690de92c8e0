"""Layer 3b: genetic operators on forests, and the front of the best trees."""
