"""RV109: an unquoted shell variable as a flag's value.

Empty, it lets the next flag be taken for the value; with a space in it, the rest becomes another argument.
"""

import re
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import SHELL, Source

CODE = "RV109"
VALUE = re.compile(r"""(?<![\w"'-])(--[\w-]+)(?:\s+|=)(\$(?:\w+|\{\w+\}))(?=\s|\\|\)|$)""")


def shell_values(source: Source) -> Iterator[Finding]:
    if source.suffix not in SHELL:
        return
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith("#"):
            continue
        for m in VALUE.finditer(line):
            if line[: m.start()].count('"') % 2 == 0:
                message = f"`{m[1]}` is given `{m[2]}` unquoted"
                yield Finding(source.path, number, CODE, message, f'write "{m[2]}"')
