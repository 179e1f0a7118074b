"""Extraction, distillation and the last look at what leaves the window."""
