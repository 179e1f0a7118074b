"""Readings of boards: series, exports and anomalies."""
