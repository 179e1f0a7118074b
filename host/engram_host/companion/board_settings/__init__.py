"""Remote settings of boards: which exist, checks by the firmware's own rules, and changes as
commands.
"""
