"""Makes vectors of texts: by a model on this machine, or by a remote service."""
