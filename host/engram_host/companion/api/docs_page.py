"""The page /docs, rendered from the API's own description (/openapi.json).

Plain HTML without scripts and foreign content, enforced by a policy: the page has the API's
origin, where a script could do all that its reader may.
"""

import base64
import hashlib
import json
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader

from engram_host.companion.auth.middleware import DECLARED, Role, requires

_TEMPLATES = Environment(loader=PackageLoader("engram_host.companion.api"), autoescape=True, auto_reload=False)
_STYLE = _TEMPLATES.get_template("docs.css").render()
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
    """Add the route of the page."""

    @app.get("/docs", include_in_schema=False, response_class=HTMLResponse, openapi_extra=requires(Role.ANYBODY))
    async def docs() -> Response:
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        return HTMLResponse(render_page(app.openapi()), headers=headers)


def render_page(described: dict[str, Any]) -> str:
    """Render an OpenAPI description."""
    return _TEMPLATES.get_template("docs.html").render(
        info=described["info"],
        routes=[
            _route(f"{method.upper()} {path}", route)
            for path, methods in described["paths"].items()
            for method, route in methods.items()
        ],
        schemas=described.get("components", {}).get("schemas", {}),
        style=_STYLE,
        json=json.dumps,
        remarks=_remarks,
    )


def _route(name: str, described: dict[str, Any]) -> dict[str, Any]:
    answers = list(described.get("responses", {}).items())
    return described | {
        "name": name,
        "anchor": name.lower().replace(" ", "").replace("{", "").replace("}", "").replace("/", "-"),
        "who": _MAY[Role(described.get(DECLARED, Role.OPERATOR))],
        "fine": [pair for pair in answers if pair[0].startswith("2")],
        "refused": [pair for pair in answers if not pair[0].startswith("2")],
    }


def _remarks(schema: dict[str, Any], description: str, is_required: bool) -> str:
    found = [description] if description else []
    found += [described.format(schema[name]) for name, described in _BOUNDS.items() if name in schema]
    if is_required:
        found.append("has to be there")
    elif schema.get("default") is not None:
        found.append(f"by default {json.dumps(schema['default'])}")
    return "; ".join(found)
