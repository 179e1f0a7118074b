"""The parts of real boards: boot, watchdog, network and serial line."""
