"""What the companion's tests share."""

from companion_fixtures import board, companion, open_store, postgres, store, store_url

__all__ = ["board", "companion", "open_store", "postgres", "store", "store_url"]
