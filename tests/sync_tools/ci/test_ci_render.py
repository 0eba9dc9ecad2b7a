import time

import pytest

from sync_tools.ci.render import MAX_OUTPUT, SECONDS, render, split_banner, workflow
from sync_tools.errors import SyncError


def test_the_text_is_what_the_template_says() -> None:
    template = b"<% set jobs = {'a': {'tests': [{'b': 1, 'a': 'x'}]}} %>\nname: t\n<% for n, c in jobs.items() %>\n  << n >>: << c.tests | tojson >>\n<% endfor %>\n"
    assert render(template) == b'\nname: t\n\n  a: [{"a": "x", "b": 1}]\n'
    assert render(b"a: ${{ b }} << c.d if c else 'e' >>\n\n") == b"a: ${{ b }} e\n"


def test_line_ends_are_made_one_and_bytes_come_through() -> None:
    assert render(b"a\r\nb\r\n\xff\xc3\xa9") == b"a\nb\n\xff\xc3\xa9"


@pytest.mark.parametrize(
    "template",
    [
        "<< ''.__class__.__mro__ >>",
        "<% if ''.__class__ %>x<% endif %>",
        "<< ''|attr('__class__') >>",
        "<< ''['__class__'] >>",
        "<< cycler.__init__.__globals__ >>",
        "<< namespace.__init__.__globals__ >>",
        "<< self.__init__.__globals__ >>",
        "<< '{0.__class__}'.format(1) >>",
        "<< ''.join.__self__.__class__ >>",
        "<% set rows = [] %><< rows.append(1) >>",
        "<% include '/etc/passwd' %>",
        "<% import 'os' as os %>",
        "<% from 'x' import y %>",
        "<% extends 'x' %>",
        "<% macro m() %><< m() >><% endmacro %><< m() >>",
        "<% for i in range(10**9) %><% endfor %>",
        "<< 'a' * 10**10 >>",
        "<< '%10000000000d' % 1 >>",
        "<% set a = 'x' %>" + "<% set a = a ~ a %>" * 40 + "<< a|length >>",
        "<< " + "(" * 20_000 + "1" + ")" * 20_000 + " >>",
        "<% if " + "not " * 20_000 + "1 %>x<% endif %>",
        "<< missing.attribute >>",
        "<% for %>",
        "<< [1, 2]|random >>",
    ],
)
def test_a_template_that_escapes_or_asks_for_too_much_is_an_error(template: str) -> None:
    with pytest.raises(SyncError) as caught:
        render(template.encode(), "t.j2")
    assert caught.value.where == "t.j2"
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_a_template_that_loops_for_ever_ends() -> None:
    start = time.monotonic()
    with pytest.raises(SyncError, match=r"too much time|come to an end"):
        render(b"<% for i in range(99999) %><% for j in range(99999) %><% endfor %><% endfor %>")
    assert time.monotonic() - start < 2 * SECONDS


def test_a_template_or_an_output_over_the_limit_is_an_error() -> None:
    with pytest.raises(SyncError, match="too big"):
        render(b"x" * 1_000_001)
    with pytest.raises(SyncError, match=str(MAX_OUTPUT)):
        render(b"<% for i in range(99999) %><< 'x' * 1000 >><% endfor %>")


def test_the_renderer_sees_none_of_the_callers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    assert render(b"a") == b"a"


def test_the_banner_is_the_configured_one_else_the_standing_one_else_ours() -> None:
    ours = workflow(b"a: 1", "ci/t.j2")
    assert ours.startswith(b"####") and b"from ci/t.j2 by `vime-sync ci render`" in ours and ours.endswith(b"#\na: 1")
    assert (
        workflow(b"a: 1", "t.j2", banner="made from {template}\n\nby hand") == b"# made from t.j2\n#\n# by hand\na: 1"
    )
    assert workflow(b"a: 1", "t.j2", standing=b"# theirs\n# too\na: 0") == b"# theirs\n# too\na: 1"
    assert workflow(b"a: 1", "t.j2", standing=b"a: 0") == workflow(b"a: 1", "t.j2")
    assert workflow(b"a: 1", "t.j2", standing=b"# theirs\na: 0", banner="mine") == b"# mine\na: 1"


def test_a_comment_of_the_template_is_no_banner() -> None:
    assert split_banner(b"# banner\n# own\na: 1", b"# own\na: 1") == b"# banner\n"
    assert workflow(b"# own\na: 2", "t.j2", standing=b"# banner\n# own\na: 1") == b"# banner\n# own\na: 2"
