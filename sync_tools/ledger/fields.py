"""What the values of a ledger are made of: frozen, validated parts, and the words and patterns that they may hold."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sync_tools.errors import SyncError
from sync_tools.paths import safe

Op = Literal[
    "conflict",
    "deferred",
    "diverged",
    "dropped",
    "translated",
    "ported",
    "generated",
    "absent",
    "present",
    "superseded",
    "reverted",
]
State = Literal["settled", "open", "decided"]
Level = Literal["static", "unit", "contract", "smoke", "converged"]
Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Ident = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Ref = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+(#\d+|@[0-9a-f]{7,40})$")]
Word = Annotated[str, Field(pattern=r"^[\w][\w.-]*$")]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Count = Annotated[int, Field(ge=0)]

ORDER: tuple[Op, ...] = Op.__args__  # type: ignore[attr-defined]
"""Strongest first, as far as they are ordered."""


def _inside(path: str) -> str:
    try:
        return safe(path, "")
    except SyncError as e:
        raise ValueError(e.what) from e


InTree = Annotated[str, AfterValidator(_inside)]
"""A path that stays in the tree."""


class Model(BaseModel):
    """What all parts of a ledger are: frozen, strict, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)
