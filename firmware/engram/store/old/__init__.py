"""The store with its index in RAM, which the app uses until the one in flash takes its place."""
