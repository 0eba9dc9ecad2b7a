"""Code made to be slow to follow is followed in a time that grows with its size."""

import time

from sync_tools.translate.python import translate_module

CHAIN = """from slime.utils.http_utils import post
async def f(args, c, {names}):
    v0 = {{}}
{steps}
    await post(f"http://{{args.sglang_router_ip}}/generate", v{last})
"""


def seconds(length: int) -> float:
    names = ", ".join(f"out{n}" for n in range(length))
    steps = "\n".join(f"    v{n} = v{n - 1} if c else out{n}" for n in range(1, length))
    began = time.process_time()
    translate_module(CHAIN.format(names=names, steps=steps, last=length - 1), style="module", seam_module="vime.seam")
    return time.process_time() - began


def test_a_chain_of_choices_costs_what_its_length_is() -> None:
    short, long = seconds(500), seconds(4000)
    assert long < 40 * max(short, 0.05)
