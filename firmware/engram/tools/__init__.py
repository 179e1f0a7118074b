"""Tools of a person's own: functions and pins that the model may use."""
