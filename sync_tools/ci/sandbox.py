"""Renders one template in a process of its own: standard input to standard output. Run as a script, never imported.

A template is another project's text, so it gets neither files nor includes nor attributes of Python objects, and the
process has little memory and few seconds: whatever a template finds to escape through or to loop in ends here.
"""

import resource
import sys
from contextlib import suppress

MEMORY = 512 * 1024 * 1024
SECONDS = 2


def main() -> int:
    limit, outputs = int(sys.argv[1]), 0
    for what, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(what, (most, most))
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

    class Environment(ImmutableSandboxedEnvironment):
        def unsafe_undefined(self, obj: object, attribute: str) -> None:  # type: ignore[override]
            raise SecurityError(f"access to attribute {attribute!r} is not allowed")

    environment = Environment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>"
    )
    for name in ("cycler", "joiner", "lipsum"):
        del environment.globals[name]
    del environment.filters["random"]
    source = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    try:
        for part in environment.from_string(source).generate():
            data = part.encode("utf-8", "surrogateescape")
            outputs += len(data)
            if outputs > limit:
                return _failed(f"the output is over {limit} bytes")
            sys.stdout.buffer.write(data)
    except TemplateError as e:
        line = getattr(e, "lineno", None)
        return _failed(f"line {line}: {e.message}" if line else str(e.message))
    except (MemoryError, RecursionError) as e:
        return _failed(f"{type(e).__name__}: the template asks for too much")
    except Exception as e:
        return _failed(f"{type(e).__name__}: {e}")
    return 0


def _failed(why: str) -> int:
    sys.stderr.write(why)
    return 1


if __name__ == "__main__":
    sys.exit(main())
