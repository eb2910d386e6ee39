"""Our kernels beside the systems that users would pick instead: `python -m benchmarks.peers`."""
