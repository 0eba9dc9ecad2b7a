"""A router that picks the first engine; its list of engines is the real one's."""

import argparse
import json
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    workers: ClassVar[list[str]] = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        route = urlsplit(self.path).path
        self.say(200, {"urls": self.workers} if route == "/list_workers" else {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        url = parse_qs(parts.query).get("url", [""])[0]
        if parts.path == "/add_worker":
            self.workers.append(url)
        elif parts.path == "/remove_worker":
            self.workers.remove(url)
        elif not self.workers:
            return self.say(503, "No available workers")
        else:
            request = urllib.request.Request(self.workers[0] + self.path, body, {"Content-Type": "application/json"})
            return self.say(200, json.load(urllib.request.urlopen(request)))
        return self.say(200, {})

    def say(self, status, what):
        data = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--worker-urls", nargs="*", default=[])
    args = parser.parse_known_args()[0]
    Handler.workers = list(args.worker_urls)
    ThreadingHTTPServer((args.host, args.port), Handler).serve_forever()
