"""As heap_conversation.py, once the work in the background has ended and the idle link to the model is closed."""

import gc
import time

import micropython

import main

_IDLE_SECONDS = 16  # after which the link to the model is closed


def _rest(board):
    """Do what the app's upkeep does, as long as there is something to do."""
    time.sleep(_IDLE_SECONDS)
    board.model.tidy()
    is_busy = True
    while is_busy:
        is_busy = False
        for work in (board.records, board.journal, board.capacity, board.records.uses):
            is_busy = work.tick() or is_busy


_rest(main.app.board)
gc.collect()
print("used", gc.mem_alloc(), "free", gc.mem_free())
micropython.mem_info()
