"""The model's window is asked of its service, in the forms that services have, and corrected by a refusal."""

from board import Board, Script
from engram.config import Config
from engram.errors import ModelRefused, NetError
from engram.learning.model_check import ModelCheck
from engram.llm.types import Call
from engram.llm.window import SETTING, WindowFinder
from support import folder
from turns import Ear, say

_LLAMA = '{"models":[{"name":"q.gguf"}],"data":[{"id":"q.gguf","meta":{"n_ctx_train":32768,"n_ctx":3072}}]}'
_MANY = '{"data":[%s{"id":"big","x":"%s"},{"id":"q","x":"","context_length":16384},{"id":"z","context_length":9}]}'
_REFUSED = "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"


class _Service:
    """A service that answers some paths, in pieces of 1,000 bytes."""

    def __init__(self, answers):
        self._answers = answers
        self.asked = []

    async def ask(self, method, path, headers, body, first_ms):
        self.asked.append(path)
        answer = self._answers.get(path, "")
        if isinstance(answer, Exception):
            raise answer
        self._rest = answer.encode()
        self.status = 200 if answer else 404
        return self

    async def read(self):
        piece, self._rest = self._rest[:1000], self._rest[1000:]
        return piece

    @property
    def ended(self):
        return not self._rest

    def release(self, answer):
        pass

    def tidy(self):
        pass


def _finder(answers, **settings):
    config = Config(folder(), {name.replace("_", ".", 1): value for name, value in settings.items()})
    service = _Service(answers)
    return WindowFinder(config, service, "/v1", "q", []), config, service


async def test_each_form_of_a_service_is_read():
    others = "".join('{"id":"%d","context_length":5000},' % number for number in range(900))
    for answers, window in (
        ({"/v1/models": _LLAMA}, 3072),
        ({"/v1/models": '{"data":[{"id": "q", "max_model_len": 4096}]}'}, 4096),
        ({"/v1/models": _MANY % (others, "y" * 3000)}, 16384),
        ({"/v1/models": '{"data":[{"id":"a","context_length":5000},{"id":"b","context_length":5000}]}'}, 8192),
        ({"/v1/models": '{"data":[{"id":"q"}]}', "/props": '{"default_generation_settings":{"n_ctx":2048}}'}, 2048),
        ({"/api/ps": '{"models":[{"name":"q:latest","context_length":4096}]}'}, 4096),
        ({"/api/show": '{"parameters":"num_ctx    6000\\n","model_info":{"q.context_length":131072}}'}, 6000),
        ({"/v1/models": '{"data":[{"id":"q","context_length":1000000}]}'}, 32768),
        ({"/v1/models": '{"data":[{"id":"q","context_length":512}]}'}, 8192),
        ({"/v1/models": '{"data":[{"id":"q.1","context_length":5000},{"id":"q","context_length":4096}]}'}, 4096),
        ({"/v1/models": '{"data":[{"id":"q"},{"id":"z","context_length":5000}]}'}, 8192),
        ({"/v1/models": "<html>max_model_len: 4096"}, 8192),
        ({"/api/v0/models": '{"data":[{"id":"q","max_context_length":9000,"loaded_context_length":4096}]}'}, 4096),
        ({"/api/ps": '{"models":[{"name":"z","context_length":2048}]}'}, 8192),
        ({"/api/ps": '{"models":[{"name":"z","context_length":2048},{"name":"q","context_length":4096}]}'}, 4096),
    ):
        finder, config, _ = _finder(answers)
        await finder.ask()
        assert config.get(SETTING) == window, answers


async def test_a_service_is_asked_twice_at_most_and_never_if_the_person_set_the_window():
    finder, config, service = _finder({})
    for _ in range(3):
        await finder.ask()
    assert len(service.asked) == 10 and config.get(SETTING) == 8192 and finder.said == "not told by the service"
    finder, config, service = _finder({"/v1/models": _LLAMA}, llm_context_tokens=5000)
    await finder.ask()
    assert service.asked == [] and config.get(SETTING) == 5000


async def test_a_failure_is_told():
    finder, _, _ = _finder({"/v1/models": NetError("the link is down")})
    await finder.ask()
    assert finder.said == "not told: the link is down"


async def test_a_prompt_that_is_refused_as_too_long_is_made_to_fit_once():
    for settings, window, percent in (({}, 4096, 100), ({"llm_context_tokens": 8192}, 8192, 150)):
        board = Board()
        board.configure(**settings)
        finder = WindowFinder(board.config, _Service({}), "/v1", "q", [])
        board.window = finder  # pyright: ignore[reportAttributeAccessIssue]
        board.model = Script(ModelRefused(400, _REFUSED), "ok", ModelRefused(400, "no model"), "ok")
        board.add_agent(False)
        outcome, _ = await say(board)
        assert (outcome.reply, board.config.get(SETTING), board.prompts.percent) == ("ok", window, percent)
        outcome, _ = await say(board)
        assert outcome.problem == "no model" and board.model.asked == 3


async def test_a_refusal_behind_tool_calls_corrects_the_next_turn():
    board = Board()
    board.configure()
    board.window = WindowFinder(board.config, _Service({}), "/v1", "q", [])  # pyright: ignore[reportAttributeAccessIssue]
    board.model = Script(Call("c1", "memory_search", "{}"), ModelRefused(400, _REFUSED))
    board.add_agent(False)
    outcome, _ = await say(board)
    assert outcome.problem and board.model.asked == 2 and board.config.get(SETTING) == 4096


async def test_a_test_of_another_service_leaves_the_window_and_the_counts_of_this_one():
    board = Board()
    board.configure()
    board.add_agent(False)
    model, ear = Script(), Ear()
    finder = WindowFinder(board.config, _Service({"/v1/models": _LLAMA}), "/v1", "q", [])
    await ModelCheck(board, model, finder).run(ear)
    assert "window    3072 tokens (3072 tokens, as the service says)" in ear.notices and model.asked == 3
    assert board.config.get(SETTING) == 8192 and board.learning_cursor.spent() == (0, 0)
