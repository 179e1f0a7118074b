"""Imports into boards over the link: what a file would do is shown first, then its lines go to the board one by one."""
