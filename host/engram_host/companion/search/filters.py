"""Which rows of an index a search may look at, by who asks, and which of them may be an answer.

What the caller may not see is as if it were not there: it is in no count, in no word's weight, and beside nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.search import columns
from engram_host.companion.search.columns import NONE
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.request import SearchRequest

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class VisibleRows:
    """Of one index: rows that count (`live`), and rows that may be found (`wanted`), which may be history too."""

    index: DeviceIndex
    live: Mask
    wanted: Mask


def visible_rows(index: DeviceIndex, request: SearchRequest) -> VisibleRows:
    """What a request may see of an index."""
    states = index.rows.column("state")
    allowed = _in_scope(index, request)
    live = allowed & ((states == columns.LIVE) | (states == columns.ARCHIVED))
    wanted = live
    if request.history:
        wanted = wanted | allowed & (states == columns.SUPERSEDED)
        wanted |= _earlier(index, allowed)
    return VisibleRows(index, live, wanted & _passes(index, request))


def _in_scope(index: DeviceIndex, request: SearchRequest) -> Mask:
    """Rows of a scope that the caller may see, and whose time is not over."""
    expires = index.rows.column("expires")
    return rows_seen_by(index, request.caller) & ((expires == 0) | (expires > request.now))


def rows_seen_by(index: DeviceIndex, caller: Caller) -> Mask:
    """Rows of a scope that a caller may see, in whatever state they are."""
    may_see = set(access.labels(caller))
    by_scope = np.array([text in may_see for text in index.scopes.texts] or [False], np.bool_)
    return by_scope[index.rows.column("scope")]


def _earlier(index: DeviceIndex, allowed: Mask) -> Mask:
    """Earlier versions, where the caller may see the latest one as well: its scope may have become narrower."""
    earlier = np.flatnonzero(allowed & (index.rows.column("state") == columns.EARLIER))
    kept = np.zeros(len(allowed), np.bool_)
    kept[earlier] = allowed[index.latest(earlier)]
    return kept


def _passes(index: DeviceIndex, request: SearchRequest) -> Mask:
    """Rows that pass the filters."""
    at = index.rows.column("at")
    passing = np.ones(len(at), np.bool_)
    if request.log:
        passing &= index.rows.column("turn") == (request.log == "journal")
    if request.since:
        passing &= at >= request.since
    if request.until:
        passing &= at < request.until
    if request.session:
        passing &= _equals(index.rows.column("thread"), index.threads.find(request.session))
    if request.speaker:
        passing &= _equals(index.rows.column("who"), index.speakers.find(request.speaker))
    labels = ["#" + tag for tag in request.tags] + (["!" + request.type] if request.type else [])
    for label in labels:
        having = np.zeros(len(at), np.bool_)
        having[index.postings.find(hash(label))[0]] = True
        passing &= having
    return passing


def _equals(column: NDArray[np.int32], number: int) -> Mask:
    return (column == number) & (number != NONE)
