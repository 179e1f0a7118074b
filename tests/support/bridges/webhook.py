"""A service outside that alerts are sent to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Webhook:
    """A service that takes apprise's json://."""

    def __init__(self) -> None:
        self.taken: list[dict] = []
        self.status = 200
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if hook.status == 200:
                    hook.taken.append(body)
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"json://127.0.0.1:{self._server.server_port}/hidden-path"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
