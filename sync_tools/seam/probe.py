"""Look at an installed vLLM, and write what it accepts as one flat map of facts.

Runs by itself in the engine's own interpreter (`PYTHON probe.py OUT [NAME...]`), where sync_tools need not be installed;
nothing of it is imported here. NAMEs are dotted names whose existence is asked for. A fact is a key such as
`route /pause ?mode`, `sampling max_tokens` or `flag all2all-backend = naive`, with its type or the like as the value.
What a version keeps elsewhere, or does not have, has no facts.
"""

import argparse
import dataclasses
import enum
import importlib
import inspect
import json
import os
import re
import stat
import sys
import threading
import typing
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
WIRE = {
    "request": ("GenerateRequest",),
    "answer": ("GenerateResponse",),
    "chunk": ("GenerateStreamResponse",),
}
CONFIGS = {
    "compilation-config": "CompilationConfig",
    "eplb-config": "EPLBConfig",
    "speculative-config": "SpeculativeConfig",
    "kv-transfer-config": "KVTransferConfig",
    "weight-transfer-config": "WeightTransferConfig",
    "profiler-config": "ProfilerConfig",
}
BACKENDS = ("vllm.v1.attention.backends.registry", "vllm.attention.backends.registry")
BACKEND_FLAGS = ("attention-backend", "mm-encoder-attn-backend")
METRIC = re.compile(r"""["'](vllm:[a-z0-9_]+)["']""")
OTHER_APIS = re.compile(r"^/(?:v[12]/|classify|pooling|rerank|score|generative_scoring|tokenize|detokenize)")
Facts = Iterator[tuple[str, str]]


def main(out: str, names: list[str]) -> None:
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=end_with_parent, daemon=True).start()
    import vllm

    sections = (models, routes, flags, configs, environment, metrics, router)
    facts = {key: value for section in sections for key, value in section()}
    facts |= {f"name {name}": "" for name in names if exists(name)}
    found = {
        "engine": "vllm",
        "version": vllm.__version__,
        "asked": sorted(names),
        "facts": dict(sorted(facts.items())),
    }
    Path(out).write_text(json.dumps(found, indent=0) + "\n", "utf-8")


def end_with_parent() -> None:
    """A pipe on standard input ends when whoever asked is gone."""
    os.read(0, 1)
    os._exit(1)


def named(module: str, name: str) -> object:
    try:
        return getattr(importlib.import_module(module), name, None)
    except Exception:
        return None


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except Exception:
            continue
        for name in parts[cut:]:
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


def spelled(annotation: object) -> str:
    """A type without the modules of its parts, so that a class that moved is the same."""
    text = annotation.__name__ if isinstance(annotation, type) and not typing.get_args(annotation) else str(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("NoneType", "None")


def fields_of(model: object) -> dict[str, str]:
    """The fields of a pydantic model, a msgspec struct or a dataclass, with their types."""
    if model is None:
        return {}
    if hasattr(model, "model_fields"):
        return {name: spelled(f.annotation) for name, f in model.model_fields.items()}
    hints = hints_of(model)
    plain = [f.name for f in dataclasses.fields(model)] if dataclasses.is_dataclass(model) else list(hints)
    names = getattr(model, "__struct_fields__", None) or plain
    return {name: spelled(hints.get(name, "")) for name in names if not name.startswith("_")}


def hints_of(model: object) -> dict[str, object]:
    try:
        return typing.get_type_hints(model)
    except Exception:
        return dict(getattr(model, "__annotations__", {}))


def models() -> Facts:
    """The fields of sampling parameters, and those of the token route's models with what they hold (`choices.token_ids`)."""
    sampling = named("vllm", "SamplingParams") or named("vllm.sampling_params", "SamplingParams")
    yield from ((f"sampling {name}", kind) for name, kind in fields_of(sampling).items())
    module = module_with("GenerateRequest", "vllm.entrypoints")
    for title, known in WIRE.items():
        model = next((getattr(module, name) for name in known if hasattr(module, name)), None)
        yield from ((f"{title} {name}", kind) for root in inside(model) for name, kind in nested(root))


def module_with(name: str, package: str) -> object:
    """The module below a package that defines a class, found by its text before it is imported."""
    for place in sources(package):
        if re.search(rf"(?m)^class {name}\b", place.read_text("utf-8", "replace")):
            try:
                return importlib.import_module(dotted_of(place))
            except Exception:
                continue
    return None


def sources(package: str) -> list[Path]:
    import vllm

    return sorted((Path(vllm.__file__).parent / Path(*package.split(".")[1:])).rglob("*.py"))


def dotted_of(place: Path) -> str:
    import vllm

    parts = place.relative_to(Path(vllm.__file__).parent.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nested(model: type, path: str = "", depth: int = 5) -> Iterator[tuple[str, str]]:
    for name, kind in fields_of(model).items():
        yield path + name, kind
        annotation = model.model_fields[name].annotation if hasattr(model, "model_fields") else None
        for inner in inside(annotation) if depth else ():
            yield from nested(inner, f"{path}{name}.", depth - 1)


def inside(annotation: object) -> list[type]:
    """The models that a type holds: those of an optional, a list, a mapping's values, a union."""
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in inside(part)]


def routes() -> Facts:
    """Each route with its methods, the names of its query, and the keys of its body where it is not a known API's."""
    from fastapi import APIRouter

    for place in sources("vllm.entrypoints"):
        text = place.read_text("utf-8", "replace")
        yield from ((f"route {mounted}", "GET") for mounted in re.findall(r"""Mount\(\s*["'](/\w+)["']""", text))
        if "APIRouter()" not in text:
            continue
        try:
            module = importlib.import_module(dotted_of(place))
        except Exception:
            continue
        for value in list(vars(module).values()):
            for route in value.routes if isinstance(value, APIRouter) else ():
                yield from of_route(route)


def of_route(route: object) -> Facts:
    code = inspect.getsource(route.endpoint)
    dependant = getattr(route, "dependant", None)
    query = [p.alias for p in dependant.query_params] if dependant else []
    query += re.findall(r"""query_params\.(?:getlist|get)\(\s*["'](\w+)["']""", code)
    body = re.findall(r"""\b(?:body|body_json|payload|data)(?:\.get\(|\[)\s*["'](\w+)["']""", code)
    for parameter in dependant.body_params if dependant else ():
        annotation = getattr(parameter, "type_", None) or parameter.field_info.annotation
        body += [name for model in inside(annotation) for name in fields_of(model)] or [parameter.alias]
    for method in sorted(getattr(route, "methods", None) or ["WEBSOCKET"]):
        yield f"route {route.path} {method}", ""
    yield f"route {route.path}", ""
    yield from ((f"route {route.path} ?{name}", "") for name in query)
    yield from ((f"route {route.path} {{{name}}}", "") for name in body if not OTHER_APIS.match(route.path))


def flags() -> Facts:
    """The flags of `vllm serve`; `engine` says those that the engine's own arguments define."""
    make = None
    for module in ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args"):
        make = make or named(module, "make_arg_parser")
    parser = named("vllm.utils.argparse_utils", "FlexibleArgumentParser") or named(
        "vllm.utils", "FlexibleArgumentParser"
    )
    whole, engine = parser(add_help=False), parser(add_help=False)
    make(whole)
    named("vllm.engine.arg_utils", "AsyncEngineArgs").add_cli_args(engine)
    yield from of_parser(whole, "flag")
    yield from ((key.replace("flag ", "engine flag ", 1), "") for key, _ in of_parser(engine, "flag") if "=" not in key)
    backends = members_of(next((b for m in BACKENDS if (b := named(m, "AttentionBackendEnum"))), None))
    yield from ((f"flag {flag} = {name}", "") for flag in BACKEND_FLAGS for name in backends)


def of_parser(parser: argparse.ArgumentParser, kind: str) -> Facts:
    for action in parser._actions:
        takes = "0" if action.nargs == 0 else str(action.nargs or 1)
        written = getattr(action.type, "__name__", "") if action.type else ""
        for name in (o[2:] for o in action.option_strings if o.startswith("--")):
            yield f"{kind} {name}", f"takes {takes} {written}".strip()
            yield from ((f"{kind} {name} = {getattr(c, 'value', c)}", "") for c in action.choices or ())


def configs() -> Facts:
    """The keys of JSON options, and the values of those that have a closed set of them."""
    for flag, name in CONFIGS.items():
        model = named("vllm.config", name)
        for field, kind in fields_of(model).items():
            yield f"config {flag}.{field}", "" if "Literal" in kind else kind
            for value in values_of(hints_of(model).get(field)):
                yield f"config {flag}.{field} = {value}", ""


def values_of(annotation: object) -> list[str]:
    if typing.get_origin(annotation) is typing.Literal:
        return [str(value) for value in typing.get_args(annotation)]
    if isinstance(annotation, enum.EnumMeta):
        return members_of(annotation)
    return [value for part in typing.get_args(annotation) for value in values_of(part)]


def members_of(found: object) -> list[str]:
    return sorted(found.__members__) if isinstance(found, enum.EnumMeta) else []


def environment() -> Facts:
    yield from ((f"environment {name}", "") for name in named("vllm.envs", "environment_variables") or {})


def metrics() -> Facts:
    """Names as Prometheus shows them, so that a counter ends in `_total`."""
    for place in sources("vllm"):
        text = place.read_text("utf-8", "replace")
        for match in METRIC.finditer(text) if "vllm:" in text else ():
            around = text[max(0, match.start() - 200) : match.start()]
            kinds = re.findall(r"(?i)(counter|gauge|histogram|summary|info)\w*\(", around)
            name = match[1].removeprefix("vllm:").removesuffix("_total")
            yield f"metric {name}{'_total' if kinds and kinds[-1].lower() == 'counter' else ''}", ""


def router() -> Facts:
    """vllm-router's flags, its names, and the headers that its compiled part holds; nothing where it is not installed."""
    arguments = named("vllm_router.router_args", "RouterArgs") or named("vllm_router.launch_router", "RouterArgs")
    if arguments is None:
        return
    from importlib.metadata import version

    yield "router version", version("vllm-router")
    parser = argparse.ArgumentParser(add_help=False)
    arguments.add_cli_args(parser)
    yield from of_parser(parser, "router flag")
    root = Path(importlib.import_module("vllm_router").__file__).parent
    binary = b"".join(p.read_bytes() for p in [*root.rglob("*.so"), *root.parent.glob("vllm_router*.so")])
    yield from ((f"router header {m.decode()}", "") for m in set(re.findall(rb"x-[a-z]+-id", binary)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
