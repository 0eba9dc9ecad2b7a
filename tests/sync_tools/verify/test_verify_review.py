"""The review rules, each where it fires and where it must not."""

import pytest

FIRES = [
    ("RV101", "lp = meta.get('output_log_probs', [0.0] * n)\n", 1),
    ("RV101", "def f(s, n):\n    s.rollout_log_probs = s.rollout_log_probs or [0.0] * n\n", 2),
    ("RV101", "def f(s, n):\n    try:\n        lp = g()\n    except KeyError:\n        logprobs = [0 for _ in n]\n", 5),
    ("RV101", "s.add(tokens, log_probs=np.zeros(3))\n", 1),
    ("RV102", "import json\nx = json.loads(t.replace('\\n', '\\\\n'))\n", 2),
    ("RV102", "import json\ndef f(t):\n    t2 = t.strip().replace('\\n', '\\\\n')\n    return json.loads(t2)\n", 4),
    (
        "RV103",
        "import asyncio, threading\nclass W:\n    def __init__(self):\n        self.q = asyncio.Queue()\n"
        "        threading.Thread(target=self.run).start()\n",
        4,
    ),
    ("RV104", "async def f(s):\n    async with s.semaphore:\n        async with s.semaphore:\n            pass\n", 3),
    (
        "RV104",
        "async def g(s):\n    async with s.semaphore:\n        pass\n"
        "async def f(s):\n    async with s.semaphore:\n        return await g(s)\n",
        6,
    ),
    (
        "RV105",
        "def f(queue, n):\n    out = []\n    while not queue.empty():\n        out.append(queue.get_nowait())\n    return out[:n]\n",
        5,
    ),
    (
        "RV105",
        "def f(self, n):\n    data = []\n    while len(data) < n:\n        data.extend(self.output_queue.get_all())\n"
        "    data = data[:n]\n    return data\n",
        5,
    ),
    ("RV106", "def f(group: list[list[Sample]]):\n    return [s for s in group if s.status == 1]\n", 2),
    ("RV106", "def f(sample: Sample | list[Sample]):\n    return sample.status\n", 2),
    ("RV107", "async def f(c):\n    async with c.stream('POST', u) as r:\n        async for l in r.aiter_lines():\n            pass\n", 3),
    ("RV108", "def f(s):\n    if x:\n        s.status = S.ABORTED\n    s.status = S.COMPLETED\n", 4),
    ("RV110", "import subprocess\nsubprocess.run(['python3', 'x.py'])\n", 2),
    ("RV110", "import os\nos.system(f'python {script}')\n", 2),
    ("RV111", "PATH = '/home/someone/models/x'\n", 1),
    ("RV111", "PATH = '/Users/someone/models/x'\n", 1),
    (
        "RV112",
        "def f(t, m):\n    p = t.apply_chat_template(m, tokenize=False)\n    return t.apply_chat_template([{'role': 'user', 'content': p}])\n",
        3,
    ),
    (
        "RV112",
        "def f(t, m, c):\n    p = t.apply_chat_template(m)\n    ms = [{'content': p}]\n    return c.chat.completions.create(messages=ms)\n",
        4,
    ),
]  # fmt: skip

SILENT = [
    ("RV101", "def f(s, n):\n    s.loss_mask += [0] * n\n    s.rollout_log_probs += [0.0] * n\n"),
    ("RV101", "s.append(tokens, log_probs=[0.0] * n, trainable=False)\n"),
    ("RV101", "def f(t, trainable):\n    if not trainable:\n        log_probs = [0.0] * t\n"),
    ("RV101", "mask = [0] * n\nrewards = np.zeros(3)\n"),
    ("RV102", "import json\nx = json.loads(t.replace('a', 'b'))\n"),
    ("RV102", "import json\nx = json.dumps(t).replace('\\n', '\\\\n')\n"),
    ("RV103", "import asyncio\nclass W:\n    def __init__(self):\n        self.q = asyncio.Queue()\n"),
    ("RV103", "import asyncio, threading\nclass W:\n    def __init__(self):\n        threading.Thread(target=self.run).start()\n    async def run(self):\n        self.q = asyncio.Queue()\n"),
    ("RV104", "async def f(s):\n    async with s.semaphore:\n        pass\n    async with s.semaphore:\n        pass\n"),
    ("RV104", "async def f(s):\n    async with s.semaphore:\n        def g():\n            with s.semaphore:\n                pass\n"),
    ("RV105", "def f(queue, n):\n    out = []\n    while len(out) < n:\n        out.append(queue.get())\n    return out[:n]\n"),
    ("RV105", "def f(queue, n):\n    out = []\n    while not queue.empty():\n        out.append(queue.get_nowait())\n    put(out[n:])\n    return out[:n]\n"),
    ("RV106", "def f(group: list[Sample]):\n    return [s for s in group if s.status == 1]\n"),
    ("RV106", "def f(sample: Sample | list[Sample]):\n    if isinstance(sample, list):\n        return 1\n    return sample.status\n"),
    ("RV107", "async def f(c):\n    try:\n        async for l in c.aiter_lines():\n            pass\n    except Error:\n        s.status = 1\n"),
    ("RV107", "async def f(c):\n    async for l in c.items():\n        pass\n"),
    ("RV108", "def f(s):\n    if x:\n        s.status = S.ABORTED\n        return s\n    s.status = S.COMPLETED\n"),
    ("RV108", "def f(s):\n    if x:\n        s.status = S.ABORTED\n    else:\n        s.status = S.COMPLETED\n"),
    ("RV110", "import subprocess, sys\nsubprocess.run([sys.executable, 'x.py'])\nsubprocess.run(['pythonic'])\n"),
    ("RV111", "A = '/root/models'\nB = '/home/runner/work'\nC = 'https://x.y/home/z/a'\n"),
    ("RV112", "def f(t, m):\n    p = t.apply_chat_template(m)\n    return t.encode(p)\n"),
    ("RV112", "def f(t, m, n):\n    p = t.apply_chat_template(m)\n    q = t.apply_chat_template(n)\n    return p + q\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "code", "line"), FIRES)
def test_the_rule_fires(found, rule, code, line):
    assert ("vime/a.py", line, rule) in found("review", {"vime/a.py": code})


@pytest.mark.parametrize(("rule", "code"), SILENT)
def test_the_rule_is_silent(found, rule, code):
    assert [r for _, _, r in found("review", {"vime/a.py": code}) if r == rule] == []


@pytest.mark.parametrize(
    ("line", "fires"),
    [
        ("train --lr $LR \\", True),
        ("train --lr=${LR}", True),
        ("train --lr ${LR} --n 1", True),
        ('train --lr "$LR"', False),
        ('x="--lr $LR"', False),
        ("train ${ARGS[@]}", False),
        ("train --lr ${LR:-1}", False),
        ("# train --lr $LR", False),
        ("a-- $B", False),
    ],
)
def test_unquoted_values_in_shell(found, line, fires):
    assert bool(found("review", {"run.sh": line + "\n"})) is fires


def test_absolute_interpreters_in_shell(found):
    assert found("review", {"run.sh": "/usr/bin/python3 x.py\npython x.py\n"}) == [("run.sh", 1, "RV110")]
