# Engram. `make` alone lists the targets.
PYTHON ?= python3
SETS ?= ../shared/data/locomo
ENGINE ?= board
FOREIGN ?= 0
BOARD ?=
PORT ?=
FIRMWARE ?=
CONFIG ?=
OUT ?=
FILE ?=
BAUD ?= 460800
ERASE_MEMORY ?=
SECRETS ?=
COMPANION ?=
TELEGRAM ?=
MODELS ?=
BIN = .venv/bin
BOARDS = ENGRAM_UNDER_MAKE=1 $(BIN)/python -m engram_host board
TAKE_CONFIG = $(if $(CONFIG),--config "$(CONFIG)")
export PYTHONPATH = host
export PYTHONDONTWRITEBYTECODE =
export PYTHONPYCACHEPREFIX = $(CURDIR)/build/pycache

.PHONY: help run serve bench-companion screenshots test soak eval bench-store bench-senses lint format lock clean
.PHONY: image flash deploy monitor chat setup backup restore

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

run:  ## chat with the firmware in the terminal (LLM=script: a scripted model; COMPANION=1: a companion; TELEGRAM=fake: a chat; REPL=1: a prompt)
	@$(PYTHON) tools/setup/get_micropython.py 64 >/dev/null
	@$(if $(COMPANION),$(PYTHON) tools/setup/bootstrap.py --companion)
	@$(PYTHON) -m engram_host.simulator

serve: companion  ## run the companion: HTTP API and database in one process (ARGS="--help" lists its options)
	@PYTHONPATH=host:firmware $(BIN)/python -m engram_host serve $(ARGS)

image: .venv  ## write a board's file system to one file (BOARD=..., optional: CONFIG=config.json OUT=fs.bin)
	@$(BOARDS) image --board "$(BOARD)" $(TAKE_CONFIG) $(if $(OUT),--out "$(OUT)")

flash: .venv  ## write MicroPython and Engram to a board (BOARD=... FIRMWARE=official.bin PORT=...; ERASE_MEMORY=1)
	@$(BOARDS) flash --board "$(BOARD)" --port "$(PORT)" --baud "$(BAUD)" $(TAKE_CONFIG) \
	    $(if $(FIRMWARE),--firmware "$(FIRMWARE)") $(if $(ERASE_MEMORY),--erase-memory)

deploy: .venv  ## update the code on a board, keep everything else (PORT=...; BOARD=... the first time)
	@$(BOARDS) deploy --port "$(PORT)" --board "$(BOARD)" $(TAKE_CONFIG)

monitor: .venv  ## show what a board prints, send what you type; Ctrl-] ends (PORT=...)
	@$(BOARDS) monitor --port "$(PORT)"

chat: .venv  ## chat with a board (PORT=...)
	@$(BOARDS) chat --port "$(PORT)"

setup: .venv  ## set a board's Wi-Fi network, its model with the API key, and its Telegram bot (PORT=...)
	@$(BOARDS) setup --port "$(PORT)"

backup: .venv  ## save a board's memory, journal, profile and settings (PORT=... FILE=board.tar.gz; SECRETS=1)
	@$(BOARDS) backup --port "$(PORT)" $(if $(FILE),"$(FILE)") $(if $(SECRETS),--secrets)

restore: .venv  ## restore a backup to a board (PORT=... FILE=board.tar.gz; ERASE_MEMORY=1)
	@$(BOARDS) restore --port "$(PORT)" $(if $(FILE),"$(FILE)") $(if $(ERASE_MEMORY),--erase-memory)

test: .venv micropython mosquitto chat-servers chromium  ## run all tests (ARGS="..." goes to pytest)
	@$(BIN)/pytest -n 6 --dist loadgroup --max-worker-restart 0 $(ARGS)

soak: .venv micropython mosquitto chat-servers synapse llama chromium  ## run the long tests: power cuts at every change of the flash, and more (an hour and longer; MODELS="qwen05 qwen15": real models beside SmolLM2)
	@TEST_WHOLE=1 $(BIN)/pytest -n 3 --dist loadgroup -m "soak or shortened or hypothesis or real_model" -o faulthandler_timeout=0 $(ARGS)

eval: .venv micropython  ## ask a board's memory the questions of a set and count the answers found (SETS=folder or young, ENGINE=companion)
	@$(BIN)/engram eval "$(SETS)" --engine "$(ENGINE)" --foreign "$(FOREIGN)"

bench-store: .venv micropython  ## measure a board's start, and the store at five sizes, up to 10,000 turns and records (ARGS="1000": at these)
	@$(BIN)/python tools/benchmarks/bench_start.py
	@$(BIN)/python tools/benchmarks/bench_store.py --sets "$(SETS)" $(ARGS)

bench-companion: .venv mosquitto  ## measure the companion on SQLite and PostgreSQL, and its embedder: searches, boards, memory (ARGS="sqlite": one; "size": by lines)
	@$(BIN)/python tools/benchmarks/bench_companion.py $(ARGS)

screenshots: .venv chromium  ## make the pictures of the page in the docs (OUT=folder: of all views, to look at)
	@$(BIN)/python tests/support/page/screenshots.py $(if $(OUT),"$(OUT)")

bench-senses: .venv micropython  ## measure what senses cost the flash and the heap
	@$(BIN)/python tools/benchmarks/bench_senses.py

lint: .venv  ## check style, types and words of all code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/pytest -q tests/docs/test_docs_style.py

format: .venv  ## format all code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: .venv  ## pin the newest compatible Python packages in all lock files (needs uv)
	@uv pip compile --upgrade --quiet --universal --python-version 3.11 --generate-hashes --extra board --extra companion --extra postgres --extra xmpp --extra irc --extra matrix --extra telegram --extra discord \
	    --extra slack --extra alerts --extra onnx --group dev \
	    pyproject.toml --output-file requirements.lock
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra companion --extra onnx --group model \
	    --constraint requirements.lock pyproject.toml --output-file companion.lock
	@uv pip compile --upgrade --quiet --universal --python-version 3.11 --generate-hashes \
	    tools/setup/synapse.in --output-file tools/setup/synapse.lock
	@uv pip compile --upgrade --quiet --no-deps --universal --python-version 3.11 --generate-hashes \
	    tools/setup/llama.in --output-file tools/setup/llama.lock

clean:  ## remove everything fetched or built (chats and memories are kept elsewhere)
	rm -rf .venv build

.PHONY: .venv companion micropython mosquitto chat-servers synapse llama chromium
.venv:
	@$(PYTHON) tools/setup/bootstrap.py

companion:
	@$(PYTHON) tools/setup/bootstrap.py --companion

micropython:
	@$(PYTHON) tools/setup/get_micropython.py

mosquitto:
	@$(PYTHON) tools/setup/get_mosquitto.py || echo "The tests that need it are skipped."

chat-servers:
	@$(PYTHON) tools/setup/get_chat_servers.py || echo "The tests that need them are skipped."

synapse:
	@$(PYTHON) tools/setup/get_environment.py $@ || echo "The tests that need it are skipped."

llama:
	@$(PYTHON) tools/setup/get_environment.py $@ $(MODELS) || echo "The tests that need it are skipped."

chromium:
	@$(PYTHON) tools/setup/get_chromium.py || echo "The tests that need it are skipped."
