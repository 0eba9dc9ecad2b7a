"""A vLLM that starts at once and generates nothing: on PYTHONPATH it takes the place of the real one.

What goes wrong is said in the environment, FAKE_VLLM="slow=0.3 crash_after=1":
`slow` seconds until it listens, `crash=TEXT` (an error instead), `crash_after` seconds once it listens, `hung_up` (it stops
listening so many seconds before), `silent` (listens and is never healthy), `stubborn` (ignores SIGTERM), `child` (starts
a process of its own), `busy` (the first so many resets of the prefix cache find blocks in use), `generate` (seconds that
a request takes).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

__path__: list[str] = []
FAULTS = dict((word.partition("=")[::2]) for word in os.environ.get("FAKE_VLLM", "").split())


class State:
    def __init__(self) -> None:
        self.paused, self.version, self.busy = False, "default", int(FAULTS.get("busy", 0))
        self.running = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = State()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("GET", {})

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.answer("POST", json.loads(self.rfile.read(length) or b"{}"))

    def answer(self, method: str, body: dict) -> None:
        route = self.path.partition("?")[0]
        found = ROUTES.get((method, route))
        status, said = found(self.state, body, self.path) if found else (404, {"detail": "Not Found"})
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def health(state, body, path):
    return (503, {}) if "silent" in FAULTS else (200, {})


def pause(state, body, path):
    state.paused = True
    return 200, {"status": "paused"}


def resume(state, body, path):
    state.paused = False
    return 200, {"status": "resumed"}


def reset(state, body, path):
    state.busy -= 1
    return 200, {"success": state.busy < 0}


def version(state, body, path):
    if not isinstance(body.get("new_version"), str):
        return 400, {"error": {"message": "new_version: a string"}}
    state.version = body["new_version"]
    return 200, {}


def rpc(state, body, path):
    if body["method"] == "fail":
        return 500, {"error": {"message": "Worker failed with error 'no'"}}
    return 200, {"results": [body.get("kwargs")]}


def generate(state, body, path):
    time.sleep(float(FAULTS.get("generate", 0)))
    return 200, {"choices": [{"token_ids": [os.getpid()]}]}


def info(state, body, path):
    parallel = {"tensor_parallel_size": 2, "pipeline_parallel_size": 1, "data_parallel_size": 1}
    mode = os.environ.get("FAKE_LOGPROBS", "processed_logprobs")
    kv = {"kv_role": os.environ["FAKE_ROLE"]} if "FAKE_ROLE" in os.environ else None
    told = {"model_config": {"logprobs_mode": mode}, "parallel_config": parallel, "kv_transfer_config": kv}
    return 200, {"vllm_config": told}


ROUTES = {
    ("GET", "/health"): health,
    ("POST", "/pause"): pause,
    ("POST", "/resume"): resume,
    ("GET", "/is_paused"): lambda state, body, path: (200, {"is_paused": state.paused}),
    ("POST", "/abort_requests"): lambda state, body, path: (200, {"status": "aborted", "aborted": 3}),
    ("GET", "/load"): lambda state, body, path: (200, {"server_load": 0}),
    ("POST", "/reset_prefix_cache"): reset,
    ("GET", "/weight_info"): lambda state, body, path: (200, {"weight_version": state.version}),
    ("POST", "/update_weight_version"): version,
    ("POST", "/collective_rpc"): rpc,
    ("GET", "/server_info"): info,
    ("POST", "/inference/v1/generate"): generate,
    ("POST", "/wake_up"): lambda state, body, path: (200, {"path": path}),
}


def crash(server: ThreadingHTTPServer) -> None:
    if "hung_up" in FAULTS:
        server.shutdown()
        server.server_close()
        time.sleep(float(FAULTS["hung_up"]))
    os._exit(7)


class ServeSubcommand:
    def validate(self, args) -> None:
        pass

    @staticmethod
    def cmd(args) -> None:
        words = " ".join(sys.argv[1:])
        print(f"(APIServer pid={os.getpid()}) INFO 11-30 01:02:03 [entry.py:1] serving {words}", flush=True)
        if "stubborn" in FAULTS:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "child" in FAULTS:
            child = subprocess.Popen(["sleep", "1000"])
            print(f"child {child.pid}", flush=True)
        time.sleep(float(FAULTS.get("slow", 0)))
        if "crash" in FAULTS:
            print(f"(EngineCore pid=1) ERROR 11-30 01:02:03 [core.py:1] ValueError: {FAULTS['crash']}", flush=True)
            raise RuntimeError("Engine core initialization failed. See root cause above.")
        server = ThreadingHTTPServer((args.host, args.port), Handler)
        server.daemon_threads = True
        if "crash_after" in FAULTS:
            threading.Timer(float(FAULTS["crash_after"]), crash, [server]).start()
        server.serve_forever()


class Parser(argparse.ArgumentParser):
    def parse_args(self, argv):
        return self.parse_known_args(argv)[0]


def make_arg_parser(parser):
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    return parser


def module(name: str, **content) -> None:
    made = types.ModuleType(name)
    made.__path__ = []
    vars(made).update(content)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, made)


class Factory:
    _registry: ClassVar[dict] = {}

    @classmethod
    def register_engine(cls, name, *where):
        cls._registry[name] = where


class Refused(ValueError):
    def __init__(self, message, *, parameter):
        super().__init__(message)
        self.parameter = parameter


class Platform:
    @classmethod
    def check_and_update_config(cls, vllm_config):
        os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"

    @classmethod
    def validate_request(cls, processed_inputs, params):
        pass


class CpuPlatform(Platform):
    pass


class CudaPlatform(Platform):
    pass


for name in ("vllm.entrypoints", "vllm.entrypoints.cli", "vllm.entrypoints.launchers", "vllm.entrypoints.serve"):
    module(name)
for name in ("vllm.entrypoints.serve.utils", "vllm.utils", "vllm.v1", "vllm.v1.engine", "vllm.v1.engine.core"):
    module(name)
for name in ("vllm.v1.worker", "vllm.v1.worker.cpu_worker", "vllm.distributed", "vllm.distributed.weight_transfer"):
    module(name)
module(
    "vllm.platforms", current_platform=CudaPlatform() if os.environ.get("FAKE_PLATFORM") == "cuda" else CpuPlatform()
)
module("vllm.platforms.cpu", CpuPlatform=CpuPlatform)
module("vllm.model_executor")
module("vllm.model_executor.models", ModelRegistry=types.SimpleNamespace(models={}))
module("vllm.exceptions", VLLMValidationError=Refused)
module("vllm.entrypoints.cli.serve", ServeSubcommand=ServeSubcommand)
module("vllm.entrypoints.launchers.cli_args", make_arg_parser=make_arg_parser)
module("vllm.entrypoints.serve.utils.api_utils", cli_env_setup=lambda: None)
module("vllm.logger", configure_logging_from_args=lambda args: None)
module("vllm.utils.argparse_utils", FlexibleArgumentParser=Parser)
module("vllm.distributed.weight_transfer.factory", WeightTransferEngineFactory=Factory)
