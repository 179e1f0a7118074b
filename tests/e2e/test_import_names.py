"""A file whose tags are as long as they may be, in any script, is imported whole, and its memories stay found."""

import json

from driving import Home, Talk, talking

JAPANESE = "台所の棚と引き出しにしまった道具の一覧表です"[:21]
LETTERS = ("abcdefghij", "äöüßéèñçøå", "家物置場所表説明東京", "😀😁😂🎉🎂🚲🚀🌍🌙🍎")


def lines(tags: list[str], items: int) -> str:
    """An export of so many memories that have the tags in turn, of which the first tells where the lamp is."""
    facts = ["the lamp is in the attic"] + [f"box{item} stands on shelf{item * 7}" for item in range(1, items)]
    return "".join(
        json.dumps({"content": fact, "tags": [tags[number % len(tags)]]}, ensure_ascii=False) + "\n"
        for number, fact in enumerate(facts)
    )


def answer(talk: Talk, line: str) -> str:
    """What is printed for a line."""
    talk.say(line)
    talk.say("/nonsense")
    return talk.heard("/nonsense: ").removesuffix("/nonsense: ")


def check_found(talk: Talk, items: int) -> None:
    """The first, a middle and the last item are found, and nothing was ever taken for damage."""
    assert "the lamp is in the attic" in answer(talk, "/recall lamp attic")
    for item in (1, items // 2, items - 1):
        assert f"shelf{item * 7}" in answer(talk, f"/recall box{item}")
    told = answer(talk, "/stats")
    assert f" {items}, " in told, told
    assert not [line for line in talk.seen.decode().splitlines() if line.startswith(("[warning", "[error"))]


def import_and_live(home: Home, text: str, items: int) -> None:
    """Import a file, look for its items, compact, and look again after a restart."""
    home.folder.mkdir()
    (home.folder / "house.jsonl").write_text(text, encoding="utf-8")
    with talking(home) as talk:
        assert f"{items} stored" in answer(talk, "/import house.jsonl")
        check_found(talk, items)
        answer(talk, "/compact")
        check_found(talk, items)
    with talking(home) as talk:
        check_found(talk, items)


def test_131_memories_with_a_japanese_tag_are_imported_and_found(home: Home):
    import_and_live(home, lines([JAPANESE], 131), 131)


def test_401_memories_with_tags_of_each_length_and_script_are_imported_and_found(home: Home):
    tags = [
        "".join(letters[(size + at * at) % 10] for at in range(size)) for letters in LETTERS for size in range(20, 33)
    ]
    import_and_live(home, lines(tags, 401), 401)
