"""Lists of boards with search, sorting and paging."""

from engram_host.companion.store.conversations.rows import OPEN
from engram_host.companion.store.database import DatabaseTable, reads
from engram_host.companion.store.page.types import BoardQuery, BoardRow
from engram_host.companion.store.queries import Rows
from engram_host.companion.types import FOLDER
from engram_host.time_zones import BoardZone

_COPIES = (
    "SELECT device, sum(CASE WHEN log = 'records' THEN have ELSE 0 END) AS records, "
    "sum(CASE WHEN log = 'journal' THEN have ELSE 0 END) AS journal, "
    "sum(CASE WHEN next - 1 > have THEN next - 1 - have ELSE 0 END) AS missing FROM logs WHERE is_present{} GROUP BY device"
)
_WAITING = f"SELECT device, count(*) AS waiting, min(at) AS since FROM conversations WHERE {OPEN}{{}} GROUP BY device"
_COLUMNS = (
    "name, rule, heard, zone, coalesce(records, 0), coalesce(journal, 0), coalesce(missing, 0), coalesce(waiting, 0), "
    "coalesce(since, 0)"
)
_FROM = (
    f"FROM devices LEFT JOIN ({_COPIES}) AS copies ON copies.device = devices.name "
    f"LEFT JOIN ({_WAITING}) AS waits ON waits.device = devices.name "
    "LEFT JOIN board_status ON board_status.device = devices.name"
)
_FROM_ALL = _FROM.format("", "")
_FROM_ONE = _FROM.format(" AND device = ?", " AND device = ?")
_FULL = "CASE WHEN flash_size > 0 THEN flash * 1.0 / flash_size ELSE -1 END"
_ORDERS = {
    "name": "name",
    "-name": "name DESC",
    "heard": "heard, name",
    "-heard": "heard DESC, name",
    "lines": "coalesce(records, 0) + coalesce(journal, 0), name",
    "-lines": "coalesce(records, 0) + coalesce(journal, 0) DESC, name",
    "waiting": "coalesce(waiting, 0), name",
    "-waiting": "coalesce(waiting, 0) DESC, name",
    "flash": f"{_FULL}, name",
    "-flash": f"{_FULL} DESC, name",
    "firmware": "coalesce(firmware, ''), name",
    "-firmware": "coalesce(firmware, '') DESC, name",
}


class BoardListTable(DatabaseTable):
    """Boards with figures from other tables."""

    @reads
    def list_boards(self, rows: Rows, query: BoardQuery) -> tuple[int, list[BoardRow]]:
        """Return (matching boards, one page of them), without Markdown folders."""
        where, values = f"WHERE substr(name, 1, {len(FOLDER)}) <> ?", [FOLDER]
        if query.find:
            where, values = where + " AND name LIKE ? ESCAPE '!'", [*values, f"%{_escaped(query.find)}%"]
        if query.heard_since or query.silent_since:
            is_heard = bool(query.heard_since)
            where += " AND heard >= ?" if is_heard else " AND heard < ?"
            values = [*values, query.heard_since or query.silent_since]
        ((total,),) = rows.run(f"SELECT count(*) FROM devices {where}", values)
        sql = f"SELECT {_COLUMNS} {_FROM_ALL} {where} ORDER BY {_ORDERS[query.sort]} LIMIT ? OFFSET ?"
        found = rows.run(sql, (*values, query.limit, query.offset))
        return total, [_row(*each) for each in found]

    @reads
    def board_row(self, rows: Rows, name: str) -> BoardRow | None:
        found = rows.run(f"SELECT {_COLUMNS} {_FROM_ONE} WHERE name = ?", (name,) * 3)
        return next((_row(*each) for each in found), None)


def _row(name: str, rule: str, heard: int, standard: int, *numbers: int) -> BoardRow:
    return BoardRow(name, heard, BoardZone(standard, rule), *map(int, numbers))


def _escaped(part: str) -> str:
    return "".join(f"!{sign}" if sign in "!%_" else sign for sign in part.lower())
