"""What GitHub knows: asked for with a token, from a server on this machine; never needed."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sync_tools.config import Config
from sync_tools.upstream.forge import Metadata, pull_request

PAGE = {
    "number": 1921, "title": "Add streaming", "html_url": "https://github.com/THUDM/slime/pull/1921",
    "labels": [{"name": "rollout"}], "merged_by": {"login": "ada"}, "url": "http://127.0.0.1/repos/THUDM/slime/pulls/1921",
}  # fmt: skip


@pytest.fixture
def forge(monkeypatch):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Authorization")))
            known = self.path.endswith("/pulls/1921")
            body = json.dumps(PAGE if known else {"message": "Not Found"}).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("GITHUB_API_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    yield asked
    server.shutdown()
    server.server_close()


def test_the_page_of_a_pull_request(forge):
    page = pull_request(Config(), 1921)
    assert page == Metadata("Add streaming", PAGE["html_url"], ("rollout",), "ada")
    assert forge[0][0] == "/repos/THUDM/slime/pulls/1921"


def test_without_a_token_nobody_is_asked(forge, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN")
    assert pull_request(Config(), 1921) is None and forge == []


def test_a_forge_that_says_no_or_is_away_is_no_error(forge, monkeypatch):
    assert pull_request(Config(), 4711) is None
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert pull_request(Config(), 1921) is None
