"""The real window, replayed whole."""

import json
import time

import pytest

FIRST, LAST, COMMITS, PRS, LIMIT = "8ef1fb47e", "624b824a8", 193, 189, 90


@pytest.mark.upstream
@pytest.mark.slow
def test_the_real_window_replays_to_the_import_at_its_end(sync, slime, tmp_path):
    began = time.process_time()
    answer = sync("replay", "--from", FIRST, "--to", LAST, "--workdir", tmp_path / "replay", "--json", upstream=slime)
    value = json.loads(answer.out)
    assert answer.code == 0
    assert (value["commits"], value["prs"]) == (COMMITS, PRS)
    for name in ("crashed", "conflicts", "final_tree_diff", "overlay_lost"):
        assert value[name] == [], name
    assert value["unaccounted"] == 0
    # This process's own time: what the machine does besides is not the replay's.
    assert time.process_time() - began < LIMIT
