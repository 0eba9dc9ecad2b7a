import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "ci_history.py"
UPSTREAM = os.environ.get("SYNC_UPSTREAM", "")


@pytest.mark.upstream
@pytest.mark.skipif(not UPSTREAM, reason="SYNC_UPSTREAM names no clone of the upstream")
def test_upstreams_own_history_is_reproduced() -> None:
    command = [sys.executable, str(BENCHMARK), "--upstream", UPSTREAM, "--json"]
    counts = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert counts == {"commits": 43, "rendered_equal": 43, "delta_equal": 43}
