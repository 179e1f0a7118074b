"""`engram api`: requests to a companion, and what is printed of the responses."""

from cli_case import engram, fine
from peers import Companion


def test_an_answer_of_json_is_printed_indented(companion: Companion):
    ran = fine("api", "GET", "/v1/boards?limit=5", "--home", companion.home)
    assert ran.json == companion.client.get("/v1/boards?limit=5").json() and "\n  " in ran.out


def test_a_refusal_is_a_sentence_with_its_status(companion: Companion):
    ran = engram("api", "GET", "/v1/boards/nobody", "--home", companion.home)
    assert (ran.status, ran.out) == (4, "") and ran.err.startswith("engram api: ") and ran.err.endswith(".\n")
    assert engram("api", "GET", "http://127.0.0.1/v1/boards", "--home", companion.home).status == 2


def test_data_is_the_body_of_the_request(companion: Companion):
    body = '{"who": "irc:ann", "name": "ann"}'
    fine("api", "POST", "/v1/people/approve", "--data", body, "--home", companion.home)
    assert [each["name"] for each in companion.client.get("/v1/people").json()] == ["ann"]
