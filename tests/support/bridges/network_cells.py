"""What people do on each network: the table of docs/design/bridges.md, and of tests/companion/bridges/test_networks.py."""

CELLS = (
    "pairing",
    "private chat",
    "group with mention",
    "streamed answer",
    "file for /import",
    "restart in an answer",
    "said while the companion is down",
    "outage of the server",
)

MISSING = {
    ("irc", "file for /import"): "IRC has no files: `/import` takes one JSON object there.",
    ("irc", "said while the companion is down"): "An IRC server keeps no messages for who is not there.",
}
"""What a network does not have, and why."""
