"""Toolchains: build emitted source, run it in a limited child process, measure it."""
