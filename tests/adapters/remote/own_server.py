"""Stand-ins for servers of the user's own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Reads requests and sends answers."""

    def do_GET(self) -> None:
        self.asked(b"")

    def do_POST(self) -> None:
        self.asked(self.rfile.read(int(self.headers["Content-Length"])))

    def asked(self, content: bytes) -> None:
        """Call `answer`; what with is each server's own."""
        raise NotImplementedError

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """Send an answer; a status of 0 closes the connection without any."""
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


class BusyServer(ThreadingHTTPServer):
    """A server to which many may knock at once; else a client waits a second to knock again."""

    request_queue_size = 64


@contextmanager
def serving(handler: type[Handler]) -> Iterator[str]:
    """Serve on this machine; yields the URL."""
    http = BusyServer(("127.0.0.1", 0), handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()
