"""Extraction, distillation and the flush of turns that leave the window."""
