"""Bridges to IM networks; each network has its own module, which knows nothing of boards or memory."""
