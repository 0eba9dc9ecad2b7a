"""The `residue` check of a port reads the budget: what is allowed is no finding, what outgrows it is."""

BUDGET = 'schema = 1\n[[leftover]]\npath = "vime/**"\nword = "sglang"\ncount = {}\nreason = "the launcher reads it"\n'


def test_an_allowed_leftover_is_no_finding(found):
    files = {"vime/a.py": 'A = "sglang"\n', "residue.toml": BUDGET.format(1)}
    assert found("residue", files) == []


def test_a_word_that_the_row_does_not_hold_is_one(found):
    files = {"vime/a.py": 'A = "slime"\n', "residue.toml": BUDGET.format(1)}
    assert found("residue", files) == [("vime/a.py", 1, "residue.name")]


def test_what_the_port_brings_over_the_budget_is_found_and_what_stood_is_not(found):
    before = {"vime/a.py": 'A = "sglang"\n', "vime/b.py": 'B = "sglang"\n', "residue.toml": BUDGET.format(2)}
    after = before | {"vime/a.py": 'A = "sglang"\nC = "sglang"\n'}
    assert found("residue", after, before) == [("vime/a.py", 2, "residue.budget")]


def test_a_second_line_of_the_same_text_is_new(found):
    before = {"vime/a.py": 'A = "sglang"\n', "residue.toml": BUDGET.format(1)}
    assert found("residue", before | {"vime/a.py": 'A = "sglang"\n' * 2}, before) == [
        ("vime/a.py", 2, "residue.budget")
    ]


def test_moving_allowed_lines_is_no_growth(found):
    before = {"vime/a.py": 'A = "sglang"\n', "residue.toml": BUDGET.format(1)}
    assert found("residue", before | {"vime/a.py": '# a line\nA = "sglang"\n'}, before) == []


def test_a_budget_that_cannot_be_read_fails_the_check(check):
    result = check("residue", {"vime/a.py": 'A = "sglang"\n', "residue.toml": "[[leftover]]\n"})
    assert result.result == "failed" and "residue.toml" in result.reason
