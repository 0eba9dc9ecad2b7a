"""Upstream's name of what keeps several sets of weights; see vime.backends.megatron_utils.weights_backup."""

from vime.backends.megatron_utils.weights_backup import Source, WeightSets


class TensorBackuper:
    """Makes the keeper of sets of weights."""

    @staticmethod
    def create(source_getter: Source, single_tag: str | None = None) -> WeightSets:
        """The keeper for the weights that `source_getter` gives; `single_tag`: the one set that will be asked for."""
        return WeightSets(source_getter)
