"""Habits of people, found in what boards remember of their days."""
