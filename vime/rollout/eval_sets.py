"""The evaluation sets of a run, as the options name them."""

from argparse import Namespace

from vime.utils.eval_config import EvalDatasetConfig, build_eval_dataset_configs, ensure_dataset_list


def eval_sets(args: Namespace) -> list[EvalDatasetConfig]:
    """Of --eval-prompt-data NAME FILE ..., or of the file of --eval-config; none where neither is given."""
    if args.eval_config is not None:
        from ruamel.yaml import YAML

        with open(args.eval_config, encoding="utf-8") as file:
            told = (YAML(typ="safe").load(file) or {}).get("eval") or {}
        return build_eval_dataset_configs(args, ensure_dataset_list(told.get("datasets") or []), told.get("defaults"))
    pairs = args.eval_prompt_data or ()
    if len(pairs) == 1:
        pairs = ("eval", *pairs)
    sets = [{"name": name, "path": path} for name, path in zip(pairs[::2], pairs[1::2])]
    return build_eval_dataset_configs(args, sets, None)
