"""What people look at of boards: lists of them with warnings, and figures of one over days."""
