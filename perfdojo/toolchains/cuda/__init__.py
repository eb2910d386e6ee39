"""CUDA: compiled by nvcc, checked by an emulation on the host, timed through CuPy where there is a GPU."""
