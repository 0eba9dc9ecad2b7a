"""RV111: an absolute path into somebody's home."""

import re
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import MARKDOWN, Source

CODE = "RV111"
HOME = re.compile(r"(?<![\w.:/-])/(?:home|Users)/[A-Za-z_][\w.-]*/")
# Not anybody's: containers' and CI's own accounts.
SHARED = ("/home/runner/", "/home/user/", "/home/ubuntu/", "/home/jovyan/", "/home/agent/")


def home_paths(source: Source) -> Iterator[Finding]:
    if source.suffix in MARKDOWN or ("/home/" not in source.text and "/Users/" not in source.text):
        return
    for number, line in enumerate(source.lines, 1):
        for m in HOME.finditer(line):
            if m[0] not in SHARED:
                yield Finding(source.path, number, CODE, f"`{m[0]}` is somebody's home", "take the path from a setting")
