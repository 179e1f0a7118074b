"""Import and export of a board: preview of a file, then line by line; exports are downloads."""

from typing import Annotated, Literal

from fastapi import File, Form, Query, Request, Response, UploadFile
from fastapi.responses import HTMLResponse

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.imports import ImportId
from engram_host.companion.app import CompanionApp
from engram_host.companion.imports.files import OUTCOMES, Outcome
from engram_host.companion.imports.service import MOST_BYTES
from engram_host.companion.page.formatting import html_bytes, take_fitting
from engram_host.companion.page.page import Page, Views, is_part, redirect

AT_ONCE = 50

_LINES_BYTES = 24000
_PROBLEMS_BYTES = 10000
_ROW_BYTES = 200
_MOST_LISTED = 20


def add_import_views(views: Views, page: Page, companion: CompanionApp) -> None:
    imports = companion.imports

    @views.get("/boards/{device}/import")
    async def choose(request: Request, device: DeviceName) -> Response:
        return page.render(
            request,
            "import.html",
            board=await companion.overviews.summary(device),
            device=device,
            imports=(await imports.list_imports(device))[:_MOST_LISTED],
            most=MOST_BYTES,
        )

    @views.form("/boards/{device}/import")
    async def take(device: DeviceName, file: Annotated[UploadFile, File()]) -> Response:
        data = await file.read(MOST_BYTES + 1)
        name = (file.filename or "memories.jsonl").rpartition("/")[2].rpartition("\\")[2]
        return redirect(_address(device, (await imports.preview(device, name, data)).id))

    @views.get("/boards/{device}/import/{id}")
    async def show(
        request: Request,
        device: DeviceName,
        id: ImportId,
        outcome: Outcome | Literal[""] = "",
        at: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> Response:
        """Show an import's progress and preview; for the script the progress only."""
        status = await imports.find(device, id)
        problems = take_fitting(status.problems, _PROBLEMS_BYTES, lambda each: html_bytes(each.why) + _ROW_BYTES)
        progress = page.part(request, "parts/import_progress.html", device=device, status=status, problems=problems)
        if is_part(request):
            return HTMLResponse(progress)
        found = await imports.lines(device, id, outcome, at, AT_ONCE)
        lines = take_fitting(
            found.lines, _LINES_BYTES, lambda each: html_bytes(each.text) + html_bytes(each.why) + _ROW_BYTES
        )
        following = at + len(lines)
        return page.render(
            request,
            "import_one.html",
            device=device,
            found=status,
            progress=progress,
            outcomes=[each for each in OUTCOMES if status.expected.get(each)],
            outcome=outcome,
            lines=lines,
            at=at,
            previous=max(0, at - AT_ONCE),
            following=following if following < found.total else 0,
        )

    @views.form("/boards/{device}/import/{id}")
    async def change(
        device: DeviceName, id: ImportId, action: Annotated[Literal["start", "cancel"], Form()]
    ) -> Response:
        """Start an import, cancel one that runs, or discard another one."""
        if action == "start":
            await imports.begin(device, id)
            return redirect(_address(device, id))
        is_open = (await imports.find(device, id)).is_open
        await imports.cancel(device, id)
        return redirect(_address(device, id if is_open else ""))


def _address(device: str, import_id: str) -> str:
    return f"/boards/{device}/import/{import_id}".rstrip("/")
