"""The simulated board: MicroPython's unix port runs the firmware in a folder of this computer."""
