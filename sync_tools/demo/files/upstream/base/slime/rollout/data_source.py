import copy

from slime.utils.data import Dataset
from slime.utils.processing_utils import load_tokenizer
from slime.utils.types import Sample


class RolloutDataSource:
    """Hands out groups of samples, first those that were given back, then fresh prompts of the dataset."""

    def __init__(self, args):
        self.args = args
        self.buffer: list[list[Sample]] = []
        self.epoch_id = 0
        self.offset = 0
        self.sample_index = 0
        self.group_index = 0
        self.dataset = None
        if args.rollout_global_dataset and args.prompt_data is not None:
            self.dataset = Dataset(
                args.prompt_data,
                load_tokenizer(args.hf_checkpoint, trust_remote_code=True),
                prompt_key=args.input_key,
                label_key=args.label_key,
                apply_chat_template=args.apply_chat_template,
                seed=args.rollout_seed,
            )
            self._shuffle()

    def get_samples(self, num_samples: int) -> list[list[Sample]]:
        groups = self.buffer[:num_samples]
        del self.buffer[: len(groups)]
        while len(groups) < num_samples:
            groups.append(self._group(self._next_prompt()))
        return groups

    def add_samples(self, groups: list[list[Sample]]) -> None:
        for group in groups:
            assert len(group) == self.args.n_samples_per_prompt, "a group comes back whole or not at all"
            self.buffer.append(group)

    def _next_prompt(self) -> Sample:
        if self.dataset is None:
            return Sample()
        if self.offset >= len(self.dataset):
            self.epoch_id += 1
            self.offset = 0
            self._shuffle()
        sample = self.dataset.samples[self.offset]
        self.offset += 1
        return sample

    def _group(self, prompt: Sample) -> list[Sample]:
        group = []
        for _ in range(self.args.n_samples_per_prompt):
            sample = copy.deepcopy(prompt)
            sample.index = self.sample_index
            sample.group_index = self.group_index
            self.sample_index += 1
            group.append(sample)
        self.group_index += 1
        return group

    def _shuffle(self) -> None:
        if self.args.rollout_shuffle:
            self.dataset.shuffle(self.epoch_id)
