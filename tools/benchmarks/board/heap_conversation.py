"""Runs the app as it is started in the terminal, on standard input until that ends, and tells of the heap then."""

import gc

import micropython

import main  # noqa: F401

gc.collect()
print("used", gc.mem_alloc(), "free", gc.mem_free())
micropython.mem_info()
