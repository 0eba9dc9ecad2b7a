"""Code made to be slow to follow: a value that may be very many things is not carried along as all of them."""

from sync_tools.translate.python.lattice import UNKNOWN, Opaque, join, value


def test_a_value_that_may_be_thousands_of_things_is_unknown() -> None:
    held = value(Opaque("first"))
    for n in range(4000):
        held = join(held, value(Opaque(f"out{n}")))
        assert len(held) <= 41
    assert held >= UNKNOWN
