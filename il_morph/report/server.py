"""The HTTP server behind the page: the standard library's server, with a fixed list of resources.

The server listens on one address and answers only requests whose Host header names that address, so that no other
web page can reach it under a name of its own. It limits the size and duration of requests, and reads no files except
those of its own page.
"""
from __future__ import annotations

import contextlib
import ipaddress
import json
import logging
import re
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional
from urllib.parse import parse_qsl

from il_morph.errors import InputError
from il_morph.report.answers import Answers
from il_morph.report.pages import read_file

log = logging.getLogger(__name__)

LARGEST_QUESTION, LARGEST_FILE = 64 * 1024, 5 * 1024 * 1024  # bytes
SILENCE, LONGEST = 10, 120  # limits in seconds: without a byte, and for a whole request
MOST_CONNECTIONS = 64
GIVEN_BACK = 1  # seconds to wait for the end of a connection that was broken off
JSON = "application/json"
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d+)?")
PAGE = {"/": ("serve.html", "text/html"), "/style.css": ("style.css", "text/css"),
        "/trace.js": ("trace.js", "text/javascript"), "/serve.js": ("serve.js", "text/javascript")}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                               "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Refused(Exception):
    """The refusal of a request: HTTP status and reason."""

    def __init__(self, status: HTTPStatus, reason: str):
        super().__init__(reason)
        self.status = status


class PageServer(ThreadingHTTPServer):
    """An HTTP server for the page and for questions about its models."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, host: str, port: int, answers: Answers):
        self.answers, self.host = answers, host
        self.page = {path: (read_file(name).encode("utf-8"), kind) for path, (name, kind) in PAGE.items()}
        self.connections = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.idle: dict[Any, None] = {}  # connections without a request so far, oldest first
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), PageHandler)
        except OSError as error:
            raise InputError(f"cannot serve on {host}, port {port}: {error.strerror or error}; choose another --port "
                             "or --host") from error

    def server_bind(self) -> None:
        """Bind as HTTPServer does, but without asking a name server for the name of this machine."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.host, self.server_address[1]

    @property
    def address(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.server_port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a new connection. If there are too many, break off the one that has been idle longest."""
        if not self.connections.acquire(blocking=False):
            self._break_off_oldest()
            if not self.connections.acquire(timeout=GIVEN_BACK):
                self.shutdown_request(request)
                return
        self.idle[request] = None
        super().process_request(request, client_address)

    def _break_off_oldest(self) -> None:
        with contextlib.suppress(StopIteration, KeyError, RuntimeError):
            oldest = next(iter(self.idle))
            del self.idle[oldest]
            break_off(oldest)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.idle.pop(request, None)
            self.connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a connection broke", exc_info=True)

    def is_own(self, header: str) -> bool:
        """Does this Host header name our server? The port may differ: requests may come through a tunnel."""
        parts = HOST.fullmatch(header.lower())
        if parts is None:
            return False
        name = parts[1].strip("[]")
        if name in ("localhost", self.host):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:  # a name, which another web page could use, too
            return not is_loopback(self.host) and name == socket.gethostname().lower()
        return address.is_loopback if is_loopback(self.host) else True


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def break_off(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class PageHandler(BaseHTTPRequestHandler):
    """Handles one request, then closes the connection."""

    server: PageServer
    server_version, sys_version = "il-morph", ""
    timeout = SILENCE

    def handle(self) -> None:
        deadline = threading.Timer(LONGEST, break_off, [self.connection])
        deadline.daemon = True
        deadline.start()
        try:
            super().handle()
        finally:
            deadline.cancel()

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, find: Callable[[], tuple[bytes, str]]) -> None:
        self.server.idle.pop(self.request, None)
        try:
            self._check_sender()
            content, kind = find()
        except (InputError, Refused) as error:
            self._refuse(error.status if isinstance(error, Refused) else HTTPStatus.BAD_REQUEST, str(error))
        except (socket.timeout, ConnectionError):
            raise
        except Exception:
            log.exception("an answer failed")
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong; the terminal shows the error.")
        else:
            self._send(HTTPStatus.OK, content, kind)

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._send(status, as_json({"error": reason}), JSON)

    def send_error(self, code: int, message: Optional[str] = None, explain: Optional[str] = None) -> None:
        """Send our own refusal where the standard library refuses a request, malformed or of an unknown method."""
        self.close_connection = True
        if getattr(self, "request_version", "") == "HTTP/0.9":
            self.request_version = "HTTP/1.0"  # answers of HTTP/0.9 have no headers
        self._refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _check_sender(self) -> None:
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if not self.server.is_own(host):
            raise Refused(HTTPStatus.FORBIDDEN, f"this server is not {host!r}: open it as {self.server.address}")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            raise Refused(HTTPStatus.FORBIDDEN, "requests from other pages are refused")

    def _get(self) -> tuple[bytes, str]:
        path = self.path.partition("?")[0]
        if path == "/api/models":
            return as_json(self.server.answers.models()), JSON
        if path not in self.server.page:
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        return self.server.page[path]

    def _post(self) -> tuple[bytes, str]:
        answers, (path, _, query) = self.server.answers, self.path.partition("?")
        if path == "/api/file":
            question = dict(parse_qsl(query, errors="replace"))
            return as_json(answers.file(question, self._body("application/octet-stream", LARGEST_FILE))), JSON
        ask = {"/api/predict": answers.predict, "/api/paradigm": answers.paradigm,
               "/api/sentence": answers.sentence}.get(path)
        if ask is None:
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        return as_json(ask(self._question())), JSON

    def _question(self) -> dict[str, Any]:
        body = self._body(JSON, LARGEST_QUESTION)
        try:
            question = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError):
            question = None
        if not isinstance(question, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request must be a JSON object")
        return question

    def _body(self, kind: str, largest: int) -> bytes:
        # Without a CORS preflight, other web pages may send only certain other types.
        if self.headers.get_content_type() != kind:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the request must have the content type {kind}")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request must state its Content-Length")
        if len(length) > 12 or int(length) > largest:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request must not exceed {largest:,} bytes")
        return self.rfile.read(int(length))

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)


def as_json(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
