"""Import and export of a board: preview of a file, then line by line; exports are downloads."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Path, Query, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.imports.service import MOST_BYTES, ImportService
from engram_host.companion.imports.types import OUTCOMES, ImportLine, ImportStatus, Outcome
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.fitting import html_bytes, take_fitting
from engram_host.companion.page.page import Page, is_part, view

AT_ONCE = 50

_LINES_BYTES = 24000
_PROBLEMS_BYTES = 10000
_ROW_BYTES = 200
_MOST_LISTED = 20
_MOST_OFFSET = 1_000_000
_SEE_OTHER = 303

ImportId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
Shown = Annotated[Outcome | Literal[""], Query()]


class ImportView:
    """Views of imports into boards."""

    def __init__(self, page: Page, imports: ImportService, overviews: BoardOverviews):
        self._page = page
        self._imports = imports
        self._overviews = overviews

    async def choose(self, request: Request, device: str) -> Response:
        board = await self._overviews.summary(device)
        return self._page.render(
            request,
            "import.html",
            page_key="boards",
            board=board,
            device=device,
            imports=(await self._imports.list_imports(device))[:_MOST_LISTED],
            most=MOST_BYTES,
        )

    async def take(self, device: str, file: UploadFile) -> Response:
        data = await file.read(MOST_BYTES + 1)
        name = (file.filename or "memories.jsonl").rpartition("/")[2].rpartition("\\")[2]
        status = await self._imports.preview(device, name, data)
        return RedirectResponse(_address(device, status.id), _SEE_OTHER)

    async def show(
        self, request: Request, device: str, import_id: str, outcome: Outcome | Literal[""], at: int
    ) -> Response:
        """Show an import's progress and preview; for the script the progress only."""
        status = await self._imports.find(device, import_id)
        progress = self._page.part(
            request, "parts/import_progress.html", device=device, status=status, problems=_fitting_problems(status)
        )
        if is_part(request):
            return HTMLResponse(progress)
        lines, total = await self._imports.lines(device, import_id, outcome, at, AT_ONCE)
        fitting = _fitting_lines(lines)
        following = at + len(fitting)
        return self._page.render(
            request,
            "import_one.html",
            page_key="boards",
            device=device,
            found=status,
            progress=progress,
            outcomes=[each for each in OUTCOMES if status.expected.get(each)],
            outcome=outcome,
            lines=fitting,
            at=at,
            previous=max(0, at - AT_ONCE),
            following=following if following < total else 0,
        )

    async def begin(self, device: str, import_id: str) -> Response:
        await self._imports.begin(device, import_id)
        return RedirectResponse(_address(device, import_id), _SEE_OTHER)

    async def cancel(self, device: str, import_id: str) -> Response:
        """Cancel a running import, or discard another one."""
        is_open = (await self._imports.find(device, import_id)).is_open
        await self._imports.cancel(device, import_id)
        return RedirectResponse(_address(device, import_id if is_open else ""), _SEE_OTHER)


def _address(device: str, import_id: str) -> str:
    return f"/boards/{device}/import/{import_id}".rstrip("/")


def _fitting_lines(lines: Sequence[ImportLine]) -> list[ImportLine]:
    return take_fitting(lines, _LINES_BYTES, lambda each: html_bytes(each.text) + html_bytes(each.why) + _ROW_BYTES)


def _fitting_problems(status: ImportStatus) -> list[tuple[int, str]]:
    problems = [(each.line, each.why) for each in status.problems]
    return take_fitting(problems, _PROBLEMS_BYTES, lambda each: html_bytes(each[1]) + _ROW_BYTES)


def make_router(page: Page, imports: ImportService, overviews: BoardOverviews) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = ImportView(page, imports, overviews)

    @router.get("/boards/{device}/import", openapi_extra=view())
    async def choose(request: Request, device: DeviceName) -> Response:
        return await shown.choose(request, device)

    @router.post("/boards/{device}/import", openapi_extra=view(form=True))
    async def take(device: DeviceName, file: Annotated[UploadFile, File()]) -> Response:
        return await shown.take(device, file)

    @router.get("/boards/{device}/import/{id}", openapi_extra=view())
    async def show(
        request: Request,
        device: DeviceName,
        id: ImportId,
        outcome: Shown = "",
        at: Annotated[int, Query(ge=0, le=_MOST_OFFSET)] = 0,
    ) -> Response:
        return await shown.show(request, device, id, outcome, at)

    @router.post("/boards/{device}/import/{id}", openapi_extra=view(form=True))
    async def change(
        device: DeviceName, id: ImportId, action: Annotated[Literal["start", "cancel"], Form()]
    ) -> Response:
        return await (shown.begin(device, id) if action == "start" else shown.cancel(device, id))

    return router
