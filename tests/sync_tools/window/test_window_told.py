"""What a person reads of a window: its sum, and only the landings that need somebody."""


def told(sync, fork, upstream, **options):
    return sync("port", "--dry-run", **{"as": "w"}, tip="main", repo=fork, upstream=upstream, **options)


def test_of_a_window_that_needs_nobody_the_sum_is_told(sync, imported, upstream):
    said = told(sync, imported(1861), upstream)
    assert said.code == 0, said.err
    window, total, end = said.out.splitlines()
    assert window.startswith("Window ") and end == "Nothing was written (--dry-run)."
    counts = total.split("; ")[0]
    assert sum(int(word) for word in counts.split() if word.isdigit()) == int(window.split()[-2])
    accounted, _, lines = total.split("; ")[1].split()[:3]
    assert accounted == lines != "0"


def test_a_landing_that_needs_somebody_is_told_with_what_it_needs(sync, git, imported, upstream):
    fork = imported(1861)
    git(fork, "rm", "-q", "examples/retool/generate_with_retool.py")
    git(fork, "commit", "-qm", "no retool")
    said = told(sync, fork, upstream)
    assert said.code == 1
    heads = [line for line in said.out.splitlines() if line.startswith("THUDM/slime#")]
    assert [line.split("  ")[0] for line in heads] == ["THUDM/slime#1861"]
    assert "  absent: examples/retool/generate_with_retool.py" in said.out
    assert "1 unresolved" in said.out
