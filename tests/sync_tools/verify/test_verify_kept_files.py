"""Files that translation keeps as they are have no residue."""


def test_a_file_that_is_kept_has_no_residue(found):
    assert found("residue", {"docker/Dockerfile": "RUN pip install slime sglang\n"}) == []
    assert found("residue", {"scripts/run.sh": "pip install slime\n"}) == [("scripts/run.sh", 1, "residue.name")]
