"""The generated workflow of a demo tree, made from its template the way upstream's own generator makes it."""

from functools import lru_cache

from sync_tools.demo.history import State
from sync_tools.tree import Blob

BANNER = "# Generated from {template}; run the generator beside it, don't edit by hand.\n\n"


def with_workflow(state: State, template: str, workflow: str) -> State:
    """`state` with `workflow` rendered from `template`, which it must hold."""
    name = template.rsplit("/", 1)[-1]
    text = BANNER.format(template=name) + _render(state[template].data.decode())
    return {**state, workflow: Blob(text.encode())}


@lru_cache
def _render(template: str) -> str:
    from jinja2.sandbox import SandboxedEnvironment

    env = SandboxedEnvironment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>"
    )
    return env.from_string(template).render()
