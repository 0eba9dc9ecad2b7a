"""What the commands promise to other programs, as JSON schemas. Fields beyond the promised ones are allowed."""

import json
from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WORDS: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
LINE: Schema = {"type": "integer", "minimum": 1}
SECONDS: Schema = {"type": "number", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
COMMIT: Schema = {"type": "string", "pattern": "^[0-9a-f]{40}$"}
STATUS: Schema = {"enum": ["failed", "conflicts", "unresolved", "present", "clean"]}
OPERATION: Schema = {
    "enum": [
        *("ported", "translated", "present", "diverged", "dropped", "deferred"),
        *("generated", "absent", "superseded", "reverted", "conflict"),
    ]
}


def value(**fields: Schema) -> Schema:
    """An object that has these fields."""
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def counts(keys: Schema | None = None) -> Schema:
    """Names with how often each occurs; what does not occur is left out."""
    return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}, "propertyNames": keys or WORDS}


SITE = value(path=WORDS, line=LINE, what=WORDS, why=WORDS)
FINDING = value(
    path=TEXT, line=COUNT, rule=WORDS, message=WORDS, fix=TEXT, origin={"enum": ["inherited", "introduced"]}
)
CI_ROW = value(job=WORDS, test_file=WORDS)
PORT = value(
    pr=nullable(LINE),
    upstream_commit=COMMIT,
    status=STATUS,
    ledger={"type": "string", "pattern": r"^[\w-]+/slime-(\d+|[0-9a-f]{12})\.json$"},
    entries=counts(OPERATION),
    lines=value(added=COUNT, removed=COUNT, accounted=COUNT),
    rules=counts({"pattern": r"^SY\d{3}$"}),
    unresolved=rows(SITE),
    conflicts=rows(value(path=WORDS, symbol=TEXT)),
    absent=rows(WORDS),
    ci=value(added=rows(CI_ROW), removed=rows(CI_ROW), changed=rows(CI_ROW)),
    checks={
        "type": "object",
        "minProperties": 1,
        "additionalProperties": value(result={"enum": ["passed", "failed", "not run"]}, findings=rows(FINDING)),
    },
)
ENTRY = value(id={"type": "string", "pattern": "^[0-9a-f]{16}$"}, op=OPERATION, state=WORDS, reason=TEXT, who=TEXT)
CI_PROBLEM = value(kind=WORDS, path=TEXT, what=WORDS, job=TEXT)
CHANGED = value(written=rows(WORDS), would_write=rows(WORDS))
EVIDENCE = value(
    level={"enum": ["static", "unit", "contract", "smoke", "converged"]},
    commit=COMMIT,
    machine=WORDS,
    command=TEXT,
    figures={"type": "object"},
    warnings=rows(WORDS),
)

ANSWERS: dict[str, Schema] = {
    "error": value(error=value(what=WORDS, where=TEXT, fix=WORDS)),
    "fetch": value(upstream=WORDS, mirror=WORDS, head=COMMIT),
    "translate": value(
        text=TEXT,
        applications=rows(value(rule=WORDS, line=LINE, column=LINE, before=TEXT, after=TEXT)),
        unresolved=rows(value(line=LINE, column=LINE, what=WORDS, why=WORDS)),
    ),
    "import": value(
        upstream_commit=COMMIT,
        files=COUNT,
        translated=COUNT,
        identical=COUNT,
        dropped=COUNT,
        failed=COUNT,
        unresolved=rows(SITE),
        seconds=SECONDS,
    ),
    "port": value(ports=rows(PORT), branch=nullable(WORDS), worktree=nullable(WORDS), status=STATUS, seconds=SECONDS),
    "ledger list": value(
        ledgers=rows(
            value(
                ref=WORDS,
                subject=TEXT,
                date={"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
                state={"enum": ["conflicts", "open", "reverted", "present", "done"]},
                entries=counts(OPERATION),
                added=COUNT,
                removed=COUNT,
                waiting=COUNT,
                evidence=nullable(WORDS),
                branch=nullable(WORDS),
            )
        )
    ),
    "ledger show": value(
        ledger=value(entries=rows(ENTRY), added=COUNT, removed=COUNT, upstream=value(commit=COMMIT, pr=nullable(LINE))),
        pull_request=value(title=WORDS, body=WORDS, labels=rows(WORDS)),
    ),
    "ledger check": value(
        ledgers=COUNT, problems=rows(value(ledger=WORDS, entry=nullable(WORDS), what=WORDS)), undeclared=rows(WORDS)
    ),
    "ledger resolve": value(entry=ENTRY, written=rows(WORDS), open=COUNT),
    "ledger evidence": value(evidence=EVIDENCE, written=rows(WORDS)),
    "ci check": value(current=FLAG, problems=rows(CI_PROBLEM), inherited=rows(CI_PROBLEM)),
    "ci render": CHANGED,
    "ci add": CHANGED,
    "ci move": CHANGED,
    "init": value(path=WORDS, written=FLAG, text=WORDS),
}


def told(out: str, command: str) -> dict[str, Any]:
    """The one object on a command's standard output, which keeps the command's promise."""
    answer = json.loads(out)
    assert out.count("\n") == 1 and out.endswith("\n"), "one line, and nothing beside it"
    promise = value(schema={"const": 1}, **ANSWERS[command]["properties"])
    promise["required"] = ["schema", *ANSWERS[command]["required"]]
    wrong = [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(promise).iter_errors(answer)]
    assert not wrong, wrong
    return answer
