"""The benchmarks behind ``symgrad bench``: problems x methods x seeds, one process per run."""
