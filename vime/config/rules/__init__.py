"""Validation across options: every rule is run, and all that is wrong comes out at once."""

from collections.abc import Iterable

from vime.config.args import Unreadable
from vime.config.problems import Problem
from vime.config.rules import effects, evaluation, files, fully_async, learning, missing, placement, sizes
from vime.config.rules.check import Check, Rule

RULES: tuple[Rule, ...] = (
    *sizes.RULES,
    *placement.RULES,
    *learning.RULES,
    *evaluation.RULES,
    *fully_async.RULES,
    *files.RULES,
    *missing.RULES,
    *effects.RULES,
)


def broken(check: Check, rules: Iterable[Rule] = RULES) -> list[Problem]:
    """What the rules find."""
    return [problem for rule in rules for problem in findings(rule, check)]


def findings(rule: Rule, check: Check) -> list[Problem]:
    """What one rule finds, until it asks for an option whose value could not be read."""
    found: list[Problem] = []
    try:
        for problem in rule(check):
            found.append(problem)
    except Unreadable:
        pass
    return found
