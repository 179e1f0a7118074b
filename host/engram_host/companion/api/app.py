"""The HTTP API of the companion, described at /docs and /openapi.json."""

from collections.abc import Callable, Sequence
from typing import Protocol

from fastapi import APIRouter, FastAPI

from engram_host import __version__
from engram_host.companion.alerts.service import AlertService
from engram_host.companion.api.access import make_audit_router, make_session_router
from engram_host.companion.api.boards.conversations import make_conversation_router
from engram_host.companion.api.boards.imports import make_import_router
from engram_host.companion.api.boards.journal import make_journal_router
from engram_host.companion.api.boards.media import make_media_router
from engram_host.companion.api.boards.memories import make_change_router, make_memory_router
from engram_host.companion.api.boards.overview import make_overview_router
from engram_host.companion.api.boards.senses import make_sense_router
from engram_host.companion.api.boards.settings import make_settings_router
from engram_host.companion.api.boards.status import make_board_router
from engram_host.companion.api.bridges import make_bridge_router
from engram_host.companion.api.chat import make_chat_router
from engram_host.companion.api.devices import make_device_router, make_message_router
from engram_host.companion.api.docs_page import add_docs_route
from engram_host.companion.api.entries import make_entry_router
from engram_host.companion.api.errors import REFUSALS, DescribedApi, ErrorResponse, handle_errors, refuse
from engram_host.companion.api.folders import make_folder_router
from engram_host.companion.api.gateway import AnthropicProblem, GatewayProblem, make_gateway_router
from engram_host.companion.api.health import HealthSource, make_health_router
from engram_host.companion.api.people.admission import make_people_router
from engram_host.companion.api.people.personal import make_personal_router
from engram_host.companion.api.search import make_search_router
from engram_host.companion.auth.middleware import AuthMiddleware, MakeRefusal
from engram_host.companion.board_settings.service import BoardSettingsService
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.folders.service import FolderService
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.imports.service import ImportService
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.overview.absence import AbsenceFinder
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.personal.service import PersonalMemory
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.search_service import SearchService
from engram_host.companion.senses.service import ReadingService
from engram_host.companion.store import CompanionStore


class ApiBackend(HealthSource, Protocol):
    """Companion as the routes need it; implemented by CompanionApp."""

    store: CompanionStore
    alerts: AlertService
    dispatcher: MessageDispatcher
    search: SearchService
    gateway: Gateway
    folders: FolderService
    conversations: ConversationService
    overviews: BoardOverviews
    memories: MemoryServices
    absences: AbsenceFinder
    imports: ImportService
    readings: ReadingService
    media: MediaService
    people: PeopleService
    personal: PersonalMemory
    board_settings: BoardSettingsService

    async def reload_bridges(self) -> None:
        """Apply the current settings of bridges and alerts; raises SettingError."""
        ...


def make_app(
    companion: ApiBackend,
    more: Sequence[APIRouter] = (),
    refuse_otherwise: Callable[[MakeRefusal], MakeRefusal] = lambda refusal: refusal,
) -> FastAPI:
    """Make the API with its guard and `more` routes, which may replace its refusals."""
    app = DescribedApi(
        refused_as=(ErrorResponse, GatewayProblem, AnthropicProblem),
        title="Engram companion",
        version=__version__,
        description="Keeps a copy of what boards remember, and finds it again by words and by meaning.",
        responses=REFUSALS,
        # FastAPI's own pages load scripts from another site.
        docs_url=None,
        redoc_url=None,
    )
    refusal = refuse_otherwise(lambda scope, *how: refuse(scope["path"], *how))
    handle_errors(app, refusal)
    # Routers are tried in order: those of boards come first.
    for router in (
        make_message_router(companion.dispatcher, companion.access),
        make_search_router(companion.search, companion.absences),
        make_health_router(companion),
        make_device_router(companion.store),
        make_board_router(companion.store, lambda: companion.alerts.flash_percent),
        make_overview_router(companion.overviews),
        make_memory_router(companion.memories),
        make_change_router(companion.memories),
        make_conversation_router(companion.memories, companion.conversations),
        make_sense_router(companion.readings),
        make_media_router(companion.media),
        make_journal_router(companion.overviews.journal),
        make_import_router(companion.imports),
        make_chat_router(companion.conversations),
        make_settings_router(companion.board_settings),
        make_entry_router(companion.store),
        make_gateway_router(companion.gateway),
        make_folder_router(companion.folders, companion.store),
        make_people_router(companion.people, companion.access.sessions),
        make_personal_router(companion.people, companion.personal),
        make_bridge_router(companion.bridges, companion.reload_bridges),
        make_audit_router(companion.store),
        make_session_router(companion.access.sessions),
    ):
        # An included router would be one entry, and make each of its routes again: most of a start's time.
        app.router.routes.extend(router.routes)
    add_docs_route(app)
    for router in more:
        app.router.routes.extend(router.routes)
    app.add_middleware(AuthMiddleware, api=app, access=companion.access, refuse=refusal)
    return app
