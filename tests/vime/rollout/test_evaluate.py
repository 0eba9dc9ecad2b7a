"""Evaluation: which sets, sampled how, and apart from training."""

import asyncio

import pytest
from engines import Faults, turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput, call_rollout_fn
from vime.rollout.vllm_rollout import GenerateState, abort, eval_rollout, generate_rollout
from vime.utils.eval_config import EvalConfigError, EvalDatasetConfig, eval_datasets
from vime.utils.types import Sample


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


def evaluated(tmp_path, script, **more):
    with serving(script) as server:
        path = write_prompts(tmp_path / "held.jsonl", 3)
        args = options(vllm_router_port=server.port, eval_prompt_data=("held", path), **more)
        output = generate_rollout(args, 0, None, evaluation=True)
        assert server.engine.violations == []
        return output, server.requests


def test_a_set_is_evaluated_in_its_order(tmp_path):
    output, requests = evaluated(tmp_path, [turn("a0", "length")], n_samples_per_eval_prompt=2, eval_temperature=0.0)
    found = output.data["held"]
    assert found["rewards"] == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0] and found["truncated"] == [True] * 6
    assert [sample.index for sample in found["samples"]] == list(range(6))
    for request in requests:
        sampling = request["sampling_params"]
        assert (sampling["temperature"], sampling["top_p"], sampling["top_k"]) == (0.0, 1.0, -1)
        assert sampling["max_tokens"] == 16


def test_a_set_says_for_itself_what_the_command_line_does_not(tmp_path):
    path = write_prompts(tmp_path / "held.jsonl", 3)
    (tmp_path / "eval.yaml").write_text(
        f"eval:\n  defaults: {{top_p: 0.5, temperature: 0.3, rm_type: f1}}\n"
        f"  datasets:\n    held: {{path: '{path}@[-1:]', temperature: 0.7, max_response_len: 5}}\n"
    )
    with serving([turn("a2")]) as server:
        args = options(vllm_router_port=server.port, eval_config=str(tmp_path / "eval.yaml"), eval_temperature=0.1)
        output = generate_rollout(args, 0, None, evaluation=True)
    (request,) = server.requests
    sampling = request["sampling_params"]
    assert (sampling["temperature"], sampling["top_p"], sampling["max_tokens"]) == (0.7, 0.5, 5)
    assert output.data["held"]["samples"][0].metadata["rm_type"] == "f1" and output.data["held"]["rewards"] == [1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("eval: {datasets: {a: {path: x, temprature: 1}}}", "nothing reads temprature"),
        ("eval: {defaults: {tempreature: 1}, datasets: {a: {path: x}}}", "eval.defaults: nothing reads tempreature"),
        ("eval: {datasets: {a: {}}}", "no path"),
        ("eval: {datasets: [{path: x}]}", "needs a name"),
        ("eval: {}", "there are no eval.datasets"),
        ("- 1", "a mapping with `eval:`"),
        ("a: [", "--eval-config"),
        ("eval: {datasets: {a: {path: x, app_service: y}}}", "app_service need"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path, text, message):
    (tmp_path / "eval.yaml").write_text(text)
    with pytest.raises(EvalConfigError, match=message):
        eval_datasets(options(eval_config=str(tmp_path / "eval.yaml")))


def test_sets_of_the_command_line():
    assert [(one.name, one.path) for one in eval_datasets(options(eval_prompt_data=("d/aime.jsonl@[:5]",)))] == [
        ("aime", "d/aime.jsonl@[:5]")
    ]
    with pytest.raises(EvalConfigError, match="rev3 stands twice"):
        eval_datasets(options(eval_prompt_data=["rev3", "a", "rev3", "b"]))
    with pytest.raises(EvalConfigError, match="in turn"):
        eval_datasets(options(eval_prompt_data=("a", "b", "c")))
    assert eval_datasets(options()) == []
    set_ = EvalDatasetConfig(name="a", path="b", rm_type="math", metadata_overrides={"k": 1})
    assert set_.inject_metadata({"k": 0, "j": 2}) == {"k": 1, "j": 2, "rm_type": "math"}
    assert set_.inject_metadata(None) == {"k": 1, "rm_type": "math"}


async def shortens(args, sample, sampling_params):
    sampling_params["max_new_tokens"] -= 1
    sample.status, sample.response = Sample.Status.COMPLETED, str(sampling_params["max_new_tokens"])
    return sample


def test_samples_do_not_share_parameters_that_a_function_may_change(tmp_path):
    output, _ = evaluated(tmp_path, [turn("x")], custom_generate_function_path=f"{__name__}.shortens")
    assert {sample.response for sample in output.data["held"]["samples"]} == {"15"}


def test_a_rollout_that_ends_does_not_end_an_evaluation(tmp_path):
    """Training stops every request of the engine; the evaluation asks again, and its own bound is not training's."""

    async def both():
        path = write_prompts(tmp_path / "held.jsonl", 3)
        args = options(vllm_router_port=server.port, eval_prompt_data=("held", path), vllm_server_concurrency=1)
        state = GenerateState(args)
        async with state.semaphore:
            evaluating = asyncio.create_task(eval_rollout(args, 0))
            await asyncio.sleep(0.1)
            await abort(args, 0)
            return (await evaluating)[0]

    with serving([turn("x" * 40)], Faults(pace=0.005)) as server:
        output = asyncio.run(both())
    samples = output.data["held"]["samples"]
    assert {(sample.status, len(sample.response)) for sample in samples} == {(Sample.Status.COMPLETED, 40)}
    assert len(server.requests) > 3


def test_group_rewards_are_for_training(tmp_path):
    with pytest.raises(ValueError, match="--group-rm"):
        evaluated(tmp_path, [turn("x")], group_rm=True)


def test_rollout_functions_may_return_bare_values():
    assert call_rollout_fn(lambda evaluation: [[1]], evaluation=False) == RolloutFnTrainOutput(samples=[[1]])
    assert call_rollout_fn(lambda evaluation: {"a": {}}, evaluation=True) == RolloutFnEvalOutput(data={"a": {}})
    made = RolloutFnTrainOutput(samples=[], metrics={"a": 1})
    assert call_rollout_fn(lambda evaluation: made, evaluation=False) is made
