"""Text files that are part of the code, beside the modules: words, settings, the model's tools."""

from engram.errors import StoreError

_FOLDER = __file__.rpartition("/")[0] + "/"


def read(name: str) -> str:
    """Return the text of engram/NAME.txt; StoreError if it cannot be read."""
    try:
        with open(_FOLDER + name + ".txt", "rb") as file:
            return file.read().decode()
    except OSError as error:
        raise StoreError("%s.txt cannot be read (%s): install the code again." % (name, error)) from None


def rows(name: str):
    """Yield the lines of a table without comments."""
    for line in read(name).split("\n"):
        if line and line[0] != "#":
            yield line
