"""ClickHouse's engine behind the HTTP interface that the driver uses: queries, inserts with settings, users, exception codes."""
import re
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

USER, PASSWORD = "firsthand", "secret"
# Settings of the HTTP interface itself.
HTTP_ONLY = {"database", "query", "wait_end_of_query", "http_write_exception_in_output_format"}

session = Session(tempfile.mkdtemp())
session.query("CREATE DATABASE IF NOT EXISTS test ENGINE = Atomic")
session.query("USE test")


class Handler(BaseHTTPRequestHandler):
    # One connection at a time is served, so none may stay open.
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def answer(self, status, body, code=None):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200, "Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.headers.get("X-ClickHouse-User") != USER or self.headers.get("X-ClickHouse-Key") != PASSWORD:
            return self.answer(403, "Code: 516. DB::Exception: Authentication failed", "516")
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        settings = ", ".join(f"{k} = '{v}'" for k, v in parameters.items() if k not in HTTP_ONLY)
        sql = parameters.get("query")
        if sql is not None:
            sql = re.sub(r" FORMAT JSONEachRow$", f" SETTINGS {settings} FORMAT JSONEachRow\n", sql) + body
        else:
            sql = body
        try:
            result = session.query(sql)
            self.answer(200, result.bytes() if result is not None else b"")
        except Exception as error:  # chdb raises RuntimeError with ClickHouse's text
            found = re.search(r"Code: (\d+)", str(error))
            self.answer(500, str(error), found.group(1) if found else "1001")


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
