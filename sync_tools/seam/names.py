"""The names by which sites are recognised, from a table of their own."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Names:
    endpoints: frozenset[str]
    asked: frozenset[str]
    request_marks: frozenset[str]
    prompts: frozenset[str]
    request: frozenset[str]
    control: frozenset[str]
    sampling: frozenset[str]
    beside: frozenset[str]
    answer_marks: frozenset[str]
    answer_root: str
    distinct: frozenset[str]
    shared: frozenset[str]
    headers: tuple[str, ...]
    values: tuple[str, ...]
    own_variables: re.Pattern[str]


@cache
def names() -> Names:
    raw = tomllib.loads(files("sync_tools.seam").joinpath("tables", "upstream.toml").read_text("utf-8"))
    request, sampling, answer, words = raw["request"], raw["sampling"], raw["answer"], raw["names"]
    return Names(
        endpoints=frozenset(raw["endpoints"]["engine"]),
        asked=frozenset(raw["endpoints"]["asked"]),
        request_marks=frozenset(request["marks"]),
        prompts=frozenset(request["prompts"]),
        request=frozenset(request["fields"]),
        control=frozenset(request["control"]),
        sampling=frozenset(sampling["keys"]),
        beside=frozenset(sampling["beside"]),
        answer_marks=frozenset(answer["marks"]),
        answer_root=answer["root"],
        distinct=frozenset(answer["distinct"]),
        shared=frozenset(answer["shared"]),
        headers=tuple(words["headers"]),
        values=tuple(words["values"]),
        own_variables=re.compile(words["own_variables"]),
    )
