"""The page /docs: what the API can be asked, for people. It is made of the API's own description (/openapi.json).

Plain HTML: no script, nothing from another site, and a policy that lets a browser load neither. The page is of the API's own
origin, where a script may do all that the person may.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import HTMLResponse

from engram_host.companion.auth.middleware import DECLARED, Role, requires

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8886; padding: .5rem 0 1rem; }
h2 { font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8883; }
code, pre { font: .9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; }
"""

_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""What a browser may do with the page: show it, in this style."""

_MAY = {
    Role.ANYBODY: "anybody",
    Role.DEVICE: "any device, and the operator",
    Role.OWN_DEVICE: "the device that the path names, and the operator",
    Role.OPERATOR: "the operator",
    Role.GATEWAY: "any device, and the operator; a token is asked for always",
}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "pattern": "as {}",
}


def add_docs_route(app: FastAPI) -> None:
    """Add the page."""

    @app.get("/docs", include_in_schema=False, response_class=HTMLResponse, openapi_extra=requires(Role.ANYBODY))
    async def docs() -> Response:
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        return HTMLResponse(render_page(app.openapi()), headers=headers)


def render_page(described: dict[str, Any]) -> str:
    """The page of an API that is described as OpenAPI has it."""
    info = described["info"]
    title = escape(f"{info['title']} {info['version']}")
    routes = [
        (method.upper(), path, described)
        for path, methods in described["paths"].items()
        for method, described in methods.items()
    ]
    links = "".join(
        f"<li><a href='#{_anchor(method, path)}'>{_name(method, path)}</a></li>" for method, path, _ in routes
    )
    schemas = described.get("components", {}).get("schemas", {})
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"{_text(info.get('description', ''))}<p>For programs: <a href='/openapi.json'>openapi.json</a>. Where tokens are "
        "asked for, one stands in the header <code>Authorization: Bearer TOKEN</code>.</p>"
        f"<ul>{links}</ul>{''.join(_route(*route) for route in routes)}<h1>Forms</h1>"
        f"{''.join(_schema(name, schema) for name, schema in schemas.items())}</body></html>"
    )


def _route(method: str, path: str, described: dict[str, Any]) -> str:
    answers = described.get("responses", {})
    fine = {status: answer for status, answer in answers.items() if status.startswith("2")}
    refused = {status: answer for status, answer in answers.items() if status not in fine}
    parts = [
        f"<section id='{_anchor(method, path)}'><h2>{_name(method, path)}</h2>",
        _text(described.get("description", "")),
        f"<p>Who may: {_MAY[Role(described.get(DECLARED, Role.OPERATOR))]}.</p>",
        _parameters(described.get("parameters", [])),
    ]
    if body := described.get("requestBody"):
        parts.append(f"<p>It takes {_content(body['content'])}.</p>")
    parts.append(_answers(fine))
    if refused:
        parts.append(f"<details><summary>Refusals</summary>{_answers(refused)}</details>")
    return "".join(parts) + "</section>"


def _parameters(parameters: list[dict[str, Any]]) -> str:
    return _table(
        ("parameter", "where", "what", ""),
        (
            (
                f"<code>{escape(each['name'])}</code>",
                escape(each["in"]),
                _kind(each["schema"]),
                _remarks(each["schema"], each.get("description", ""), is_required=each.get("required", False)),
            )
            for each in parameters
        ),
    )


def _answers(answers: dict[str, Any]) -> str:
    rows = (
        (escape(status), escape(answer.get("description", "")), _content(answer.get("content", {})))
        for status, answer in answers.items()
    )
    return _table(("status", "", "answer"), rows)


def _content(content: dict[str, Any]) -> str:
    found = []
    for media, what in content.items():
        kind = _kind(what["schema"]) if what.get("schema") else ""
        found.append(f"<code>{escape(media)}</code>{': ' if kind else ''}{kind}")
    return " or ".join(found)


def _schema(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = (
        (
            f"<code>{escape(field)}</code>",
            _kind(what),
            _remarks(what, what.get("description", ""), is_required=field in required),
        )
        for field, what in schema.get("properties", {}).items()
    )
    example = f"<pre>{escape(json.dumps(schema['example']))}</pre>" if "example" in schema else ""
    head = f"<section id='form-{escape(name)}'><h2>{escape(name)}</h2>{_text(schema.get('description', ''))}"
    return f"{head}{_table(('field', 'what', ''), rows)}{example}</section>"


def _kind(schema: dict[str, Any]) -> str:
    """What a value is, in words; a form by a link to it."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#form-{name}'>{name}</a>"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(each))}</code>" for each in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return f"list of {', then '.join(_kind(each) for each in schema['prefixItems'])}"
        return f"list of {_kind(schema.get('items', {}))}"
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return f"object of {_kind(values)}"
    return escape(schema.get("type", "anything"))


def _remarks(schema: dict[str, Any], description: str, *, is_required: bool) -> str:
    """What there is to say of a value beside what it is."""
    found = [description] if description else []
    found += [described.format(schema[name]) for name, described in _BOUNDS.items() if name in schema]
    if is_required:
        found.append("has to be there")
    elif schema.get("default") is not None:
        found.append(f"by default {json.dumps(schema['default'])}")
    return escape("; ".join(found))


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """A table; "" if there are no rows. What is in them is HTML already."""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    titles = "".join(f"<th>{title}</th>" for title in head)
    return f"<table><tr>{titles}</tr>{lines}</table>" if lines else ""


def _text(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part)


def _name(method: str, path: str) -> str:
    return f"<code>{method} {escape(path)}</code>"


def _anchor(method: str, path: str) -> str:
    return escape(method.lower() + path.replace("{", "").replace("}", "").replace("/", "-"))
