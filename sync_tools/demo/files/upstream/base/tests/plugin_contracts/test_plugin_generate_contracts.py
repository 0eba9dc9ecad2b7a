"""What a function behind --custom-generate-function-path may rely on, checked on its signature."""

import inspect

from slime.rollout import sglang_rollout


def test_generate_takes_args_sample_and_sampling_params():
    assert list(inspect.signature(sglang_rollout.generate).parameters) == ["args", "sample", "sampling_params"]


def test_a_group_is_generated_with_evaluation_off_by_default():
    parameter = inspect.signature(sglang_rollout.generate_and_rm_group).parameters["evaluation"]
    assert parameter.default is False


if __name__ == "__main__":
    import pytest

    raise SystemExit(pytest.main([__file__]))
