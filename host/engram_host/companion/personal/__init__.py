"""What a person sees of boards on a page of their own: what the boards themselves would show them, and nothing else."""
