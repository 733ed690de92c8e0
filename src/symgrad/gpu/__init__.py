"""The same batch functions as the native core's, in JAX, for GPUs (optional)."""
