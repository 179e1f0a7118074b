"""Settings of boards from afar: what there is to set, checked by the firmware's own rules, and sent as commands."""
