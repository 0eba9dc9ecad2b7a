"""Which weights the engines have, as far as anything tells."""

from __future__ import annotations

import logging
from argparse import Namespace

from vime.rollout.fully_async.staleness import version_number
from vime.rollout.groups import Group, leaves
from vime.rollout.stopping import engine_urls
from vime.utils.http_utils import HttpError, get

logger = logging.getLogger(__name__)


class Versions:
    """The newest weight version that an engine told of. `now` is None before there is one: nothing grows old then."""

    def __init__(self) -> None:
        self.now: int | None = None

    def saw(self, group: Group) -> None:
        """Learn from the answers that a group is made of."""
        for leaf in leaves(group):
            for label in leaf.weight_versions:
                self._learn(label)

    async def ask(self, args: Namespace) -> None:
        """Learn from an engine. One that does not answer is left to who watches it."""
        try:
            url = (await engine_urls(args))[0]
            self._learn((await get(f"{url}/weight_info")).get("weight_version"))
        except (HttpError, LookupError, AttributeError) as error:
            logger.info("no engine tells its weight version: %s", error)

    def _learn(self, label: object) -> None:
        number = version_number(label)
        if number is not None and (self.now is None or number > self.now):
            self.now = number
