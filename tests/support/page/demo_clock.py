"""`engram serve` at another time: the pictures of the documentation have the same dates whenever they are made.

demo_clock.py SECONDS serve ...        SECONDS: since 1970, when it starts
"""

import sys
import time

_real = time.time
_ahead = int(sys.argv.pop(1)) - _real()
time.time = lambda: _real() + _ahead

from engram_host.__main__ import main  # noqa: E402  # it has to find that clock

if __name__ == "__main__":
    main()
