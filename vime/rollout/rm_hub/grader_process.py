"""The grader: lines of [right answer, given answer] on its standard input, true or false on its output.

Runs by itself, with nothing of the framework, under limits, and ends with its parent. Only math-verify's LaTeX reader
sees the text, which builds expressions from a grammar; its reader of plain expressions evaluates, and is not used.
"""

import json
import os
import resource
import sys
import threading
import time

MEMORY = 4 << 30
INNER_SECONDS = 3


def main() -> None:
    limits = ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for kind, limit in limits:
        resource.setrlimit(kind, (limit, limit))
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        from math_verify import LatexExtractionConfig, parse, verify
    except ImportError as error:
        say(f"{error}: pip install math-verify")
        return
    say("ready")
    only_latex = [LatexExtractionConfig()]

    def read(text: str) -> list:
        return parse(f"${text}$", only_latex, fallback_mode="no_fallback", parsing_timeout=INNER_SECONDS)

    for line in sys.stdin:
        truth, given = json.loads(line)
        try:
            say(bool(verify(read(truth), read(given), timeout_seconds=INNER_SECONDS)))
        except Exception:
            # Whatever a text does to the library, it is no right answer.
            say(False)


def say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
