"""Alert addresses of apprise."""

import asyncio
import logging

from engram_host.companion.errors import SettingError
from engram_host.extras import missing_package

MOST_ADDRESSES = 16
SEND_SECONDS = 30.0  # timeout of one alert
URLS = "alerts.urls"  # secret with the addresses, separated by spaces


def read_addresses(urls: str) -> "list[AppriseAddress]":
    """Parse addresses; slow, since it loads apprise. SettingError does not show them."""
    parts = urls.split()
    if len(parts) > MOST_ADDRESSES:
        raise SettingError(URLS, f"has {len(parts)} addresses, and {MOST_ADDRESSES} are the most.")
    return [AppriseAddress(number, url) for number, url in enumerate(parts, 1)]


class AppriseAddress:
    def __init__(self, number: int, url: str):
        """`number` is its place in the list, from 1; raises SettingError for an address unknown to apprise."""
        try:
            from apprise import Apprise
        except ModuleNotFoundError as error:
            raise SettingError(URLS, missing_package(error.name)) from None
        logging.getLogger("apprise").setLevel(logging.CRITICAL)  # a failure is logged once, by who sends
        service = Apprise.instantiate(url)
        if service is None or isinstance(service, dict):
            problem = f"number {number} is no address that apprise knows; its documentation lists them."
            raise SettingError(URLS, problem)
        self._apprise = Apprise()
        self._apprise.add(service)
        self.name = f"alert address {number} ({service.service_name})"

    async def send(self, title: str, text: str) -> bool:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                return bool(await self._apprise.async_notify(title=title, body=text))
        except TimeoutError:  # apprise treats any error of a plugin as a failed delivery
            logging.getLogger("engram.alerts").debug("an alert was not sent: %s takes too long", self.name)
            return False
