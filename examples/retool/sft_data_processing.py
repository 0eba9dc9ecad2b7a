"""Conversations for supervised training from ReTool-SFT: `messages`, each with role and content and nothing else."""

from __future__ import annotations

from data_files import BadRow, Row, main

EXAMPLE = "python examples/retool/sft_data_processing.py --input data/raw/ReTool-SFT --output data/ReTool-SFT.parquet"
ROLES = ("system", "user", "assistant")


def convert(row: Row) -> Row:
    """{messages}. Raises BadRow for another role, a content that is no text, and where no assistant speaks."""
    turns = row.get("messages")
    if not isinstance(turns, list) or not turns:
        raise BadRow("no messages")
    messages = [_message(number, turn) for number, turn in enumerate(turns, 1)]
    if not any(message["role"] == "assistant" for message in messages):
        raise BadRow("no message of an assistant, so nothing to learn")
    return {"messages": messages}


def _message(number: int, turn: object) -> dict[str, str]:
    if not isinstance(turn, dict):
        raise BadRow(f"message {number} is no object")
    role, content = turn.get("role"), turn.get("content")
    if role not in ROLES:
        raise BadRow(f"message {number} has role {role!r}, none of {', '.join(ROLES)}")
    if not isinstance(content, str):
        raise BadRow(f"message {number} has no text as content")
    return {"role": role, "content": content}


if __name__ == "__main__":
    raise SystemExit(main(convert, __doc__.splitlines()[0], EXAMPLE))
