"""Starts the app on a board; whatever goes wrong ends at the prompt with a message."""

from engram.app import App
from engram.errors import EngramError

try:
    app = App()
except EngramError as error:
    print("Engram did not start:", error)
else:
    app.run()
