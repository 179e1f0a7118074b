"""The prompt's blocks keep to their budgets in any script, and all of it to the model's window."""

import random

from board import DAY, Board, Script, board_with_prompts, build_prompt, lines_of, messages_of, say
from engram import files, text
from engram.agent import prompt as prompts
from engram.errors import ArgumentError
from engram.memory.access import OWNER
from engram.tools.own_tool import OwnTool
from support import change, raises, rounds

SCRIPTS = (
    ("apple", "boat", "自行车很好", "دراجة", "🎉", "ember", "a\nb", '"quoted"', "grove-7"),
    ("велосипед", "дача", "Straße", "wörter", "2026-01-31"),
    ("จักรยาน", "साइकिल", "บ้าน", "自行车"),
)


def _words(count, words):
    return " ".join([random.choice(words) for _ in range(count)])


def _system(prompt):
    return list(prompt.system())


def _last(prompt):
    return messages_of(prompt)[-1][1]


def test_a_long_turn_is_cut_in_the_history_and_whole_in_the_journal():
    change(prompts, TURN_CHARS=100)
    board = board_with_prompts()
    seq = say(board, "字" * 300)
    assert messages_of(build_prompt(board, "two"))[0] == (
        "user",
        "字" * 100 + f" … [cut; memory_search t{seq} reads all of it]",
    )
    assert board.journal.turn(seq)["text"] == "字" * 300


def test_a_message_that_is_longer_than_the_window_is_cut_and_reported():
    for letter, count in (("x", 3500), ("字", 900)):
        board = board_with_prompts(llm_context_tokens=4096, llm_reply_tokens=2100)
        prompt = build_prompt(board, letter * count)
        read = _last(prompt).count(letter)
        assert 100 < read < count
        assert prompt.notice == (f"the message is longer than the model's window: it read the first {read} characters.")
        assert board.journal.turn(3)["text"] == letter * count


def test_a_mark_names_only_tools_of_the_mode():
    change(prompts, TURN_CHARS=100)
    board = board_with_prompts(mode="lightweight")
    say(board, "x" * 300)
    assert "memory_search" not in messages_of(build_prompt(board, "two"))[0][1]


def test_a_long_daily_note_is_shown_from_its_end():
    board = board_with_prompts(mode="lightweight", llm_context_tokens=4096)
    board.notes.for_caller(OWNER).write("2026-09-21.md", "\n".join(f"line {number} of today" for number in range(400)))
    block = _system(build_prompt(board, "hello"))[2]
    assert "[file_read 2026-09-21.md shows what stands before]" in block
    assert "line 399 of today" in block and "line 1 of" not in block


def test_no_prompt_is_larger_than_the_window():
    random.seed(6)
    for window in rounds((2048, 3000, 4096, 8192), (2048,)):
        for mode in ("full", "lightweight"):
            for words in SCRIPTS:
                board = board_with_prompts(mode=mode, llm_context_tokens=window)
                with raises(ArgumentError):
                    for number in range(25):
                        board.toolbox.add(OwnTool(len, "tool_%d" % number, "word " * 60, {"seconds": "1..60"}))
                _fill(board, words, random.choice((0, 10, 120)))
                for count in (1, 40, 400):
                    prompt = build_prompt(board, _words(count, words))
                    total = _tokens(prompt, board.toolbox.listed(OWNER))
                    assert total + min(prompt.room, 200) <= window, (window, mode, words, count, total)
                    say(board, _words(100, words), "assistant")


def test_own_tools_that_do_not_fit_a_smaller_window_are_left_out_and_reported():
    board = board_with_prompts()
    for number in range(6):
        board.toolbox.add(OwnTool(len, "tool_%d" % number, "word " * 60, {"seconds": "1..60"}))
    board.config.assume("llm.context_tokens", 2048)
    names = [tool.name for tool in board.toolbox.listed(OWNER)]
    assert "tool_0" in names and "tool_5" not in names
    assert "tool_5: its window has no room" in "".join(lines_of(board, "/stats"))


def test_the_prompt_of_an_empty_memory_is_short():
    for mode, most in (("full", 900), ("lightweight", 500)):
        board = Board().serve(Script(), mode=mode)
        prompt = build_prompt(board, "hello")
        assert _tokens(prompt, board.toolbox.listed(OWNER)) - prompt.reply_tokens <= most


def test_a_small_window_has_few_tools_and_a_short_reply():
    board = board_with_prompts(llm_context_tokens=4095, llm_reply_tokens=2000)
    assert [tool.name for tool in board.toolbox.listed(OWNER)] == ["memory_store", "memory_search"]
    prompt = build_prompt(board, "hello")
    assert prompt.reply_tokens == 1023 and "file_edit" not in _system(prompt)[1]
    board = board_with_prompts(llm_context_tokens=4096, llm_reply_tokens=2000)
    assert build_prompt(board, "hello").reply_tokens == 2000
    board = board_with_prompts(llm_context_tokens=4096, llm_reply_tokens=3500)
    assert build_prompt(board, "hello").reply_tokens == 2048


def test_the_count_of_the_service_corrects_the_next_prompts():
    board = board_with_prompts(llm_context_tokens=4096)
    for number in range(30):
        say(board, f"{number} " + "word " * 50, "user" if number % 2 else "assistant")
    prompt = build_prompt(board, "hello")
    sent, estimate = len(messages_of(prompt)), _tokens(prompt, board.toolbox.listed(OWNER)) - prompt.reply_tokens
    for used, percent in ((105, 100), (50, 100), (10**12, 100), (80, 88), (200, 140), (200, 163)):
        prompt.note_usage(estimate * used // 100)
        assert abs(board.prompts.percent - percent) < 9, used
    assert len(messages_of(build_prompt(board, "hello"))) < sent


def test_an_exact_count_leaves_the_estimate():
    for window, mode in ((2048, "full"), (8192, "full"), (8192, "lightweight")):
        board = board_with_prompts(llm_context_tokens=window, mode=mode)
        prompt = build_prompt(board, "hello")
        prompt.note_usage(_tokens(prompt, board.toolbox.listed(OWNER)) - prompt.reply_tokens)
        assert board.prompts.percent == 100


def _tokens(prompt, tools):
    total = prompt.reply_tokens + sum(text.tokens(tool.description + tool.schema) + 19 for tool in tools)
    total += sum(text.tokens(block) for block in _system(prompt))
    return total + sum(text.tokens(content) + 4 for _, content in messages_of(prompt))


def _fill(board, words, size):
    for name in ("user.md", "soul.md", "identity.md", "agent.md", "task.md"):
        board.profile.for_caller(OWNER).write(name, _words(size, words)[: 1000 if name == "agent.md" else 300])
    files.write(board.place + "/memory/MEMORY.md", _words(600, words))
    for number in range(12):
        board.now += DAY
        board.records.store(_words(30, words) + f" {number}", [f"tag-{number}"])
        say(board, _words(60, words))
        say(board, _words(60, words), "assistant")
    board.notes.for_caller(OWNER).note(_words(200, words))
