"""Serves a release and the comments of pull requests, as GitHub does, for contrib/action/test.

Usage: test-server.py FOLDER    serves FOLDER/www, writes FOLDER/port and FOLDER/requests
"""

import json
import sys
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

FOLDER = Path(sys.argv[1])
# So many that the one of the action is on the second page.
COMMENTS = [{"id": n, "body": f"Comment {n} about <!-- dumptool: dumptool -->"} for n in range(150)]


class Handler(SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=str(FOLDER / "www"))

    def log_message(self, *args):
        pass

    def allowed(self):
        with open(FOLDER / "requests", "a") as requests:
            requests.write(f"{self.command} {self.path}\n")
        if self.headers["Authorization"] == "Bearer secret-token":
            return True
        self.send_error(403)
        return False

    def answer(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def given(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        if not self.path.startswith("/api/"):
            return super().do_GET()
        if self.allowed():
            query = parse_qs(urlsplit(self.path).query)
            size, page = int(query["per_page"][0]), int(query["page"][0])
            self.answer(COMMENTS[(page - 1) * size : page * size])

    def do_POST(self):
        if self.allowed():
            COMMENTS.append({"id": 850 + len(COMMENTS), "body": self.given()})
            self.answer(COMMENTS[-1])

    def do_PATCH(self):
        if self.allowed():
            comment = next(c for c in COMMENTS if c["id"] == int(self.path.rsplit("/", 1)[1]))
            comment["body"] = self.given()
            self.answer(comment)


server = HTTPServer(("127.0.0.1", 0), Handler)
(FOLDER / "port").write_text(str(server.server_port))
server.serve_forever()
