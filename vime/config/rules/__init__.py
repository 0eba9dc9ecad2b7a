"""Validation across options: every rule is run, and all that is wrong comes out at once."""

from vime.config.args import Unreadable
from vime.config.problems import Problem
from vime.config.rules import effects, files, fully_async, learning, missing, placement, sizes
from vime.config.rules.check import Check, Rule

RULES: tuple[Rule, ...] = (
    *sizes.RULES,
    *placement.RULES,
    *learning.RULES,
    *fully_async.RULES,
    *files.RULES,
    *missing.RULES,
    *effects.RULES,
)


def broken(check: Check) -> list[Problem]:
    """What the rules find."""
    return [problem for rule in RULES for problem in _run(rule, check)]


def _run(rule: Rule, check: Check) -> list[Problem]:
    found: list[Problem] = []
    try:
        for problem in rule(check):
            found.append(problem)
    except Unreadable:
        pass
    return found
