"""The owner's tools: functions and pins for the model."""
