"""Options, prompts and an engine double for tests of whole rollouts."""

import argparse
import asyncio
import json
import threading
from contextlib import contextmanager

from doubles import ByteTokenizer
from engines import VllmServer

OPTIONS = {
    "hf_checkpoint": "tiny", "vllm_router_ip": "127.0.0.1", "vllm_server_concurrency": 8, "rollout_num_gpus": 1,
    "rollout_num_gpus_per_engine": 1, "router_policy": None, "vllm_speculative_config": None,
    "rollout_temperature": 1.0, "rollout_top_p": 1.0, "rollout_top_k": -1, "rollout_max_response_len": 16,
    "rollout_max_prompt_len": None, "rollout_max_context_len": None, "rollout_stop": None, "rollout_stop_token_ids": None,
    "rollout_skip_special_tokens": True, "rollout_seed": 5, "use_rollout_routing_replay": False,
    "rollout_global_dataset": True, "rollout_shuffle": False, "input_key": "input", "label_key": "label",
    "metadata_key": "metadata", "tool_key": None, "multimodal_keys": None, "apply_chat_template": False,
    "apply_chat_template_kwargs": {}, "dump_details": None, "save": None, "load": None,
    "rollout_batch_size": 4, "n_samples_per_prompt": 2, "over_sampling_batch_size": None,
    "partial_rollout": False, "mask_offpolicy_in_partial_rollout": False, "group_rm": False, "rm_type": "exact_match",
    "reward_key": None, "eval_reward_key": None, "custom_rm_path": None, "custom_generate_function_path": None,
    "dynamic_sampling_filter_path": None, "buffer_filter_path": None, "rollout_sample_filter_path": None,
    "rollout_all_samples_process_path": None, "rollout_sample_hook_path": (),
    "custom_reward_post_process_path": None, "custom_convert_samples_to_train_data_path": None,
    "advantage_estimator": "grpo", "rewards_normalization": True, "grpo_std_normalization": True,
    "rm_timeout": 10.0, "rm_retries": 0, "rm_on_failure": "fail", "rollout_engine_patience": 5.0,
    "rollout_request_attempts": 3, "eval_max_prompt_len": None, "eval_min_new_tokens": None,
    "eval_config": None, "eval_prompt_data": None, "n_samples_per_eval_prompt": 1, "eval_temperature": None,
    "num_rollout": 100, "num_rollout_per_epoch": None, "update_weights_interval": 1, "eval_interval": None,
    "fully_async_max_staleness": 1,
}  # fmt: skip


def options(**more):
    """`args` as the configuration makes them, for a tiny run."""
    return argparse.Namespace(**{**OPTIONS, **more})


def write_prompts(path, count=10):
    """A file of prompts "p0", "p1", ... whose right answer is "a0", "a1", ..."""
    rows = [{"input": f"p{i}", "label": f"a{i}", "metadata": {"number": i}} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def tiny_model(monkeypatch):
    """Let the byte tokenizer stand for the checkpoint's."""
    from vime.rollout import data_source, vllm_rollout
    from vime.rollout.rewarding import RewardRunner

    for module in (vllm_rollout, data_source):
        monkeypatch.setattr(module, "load_tokenizer", lambda *_, **__: Tokenizer())
        monkeypatch.setattr(module, "load_processor", lambda *_, **__: None)
    vllm_rollout.GenerateState.clear_instances()
    RewardRunner.clear_instances()


class Tokenizer(ByteTokenizer):
    """The byte tokenizer, batches too, with a chat template of its own."""

    def __call__(self, text, add_special_tokens=True, **_):
        if isinstance(text, list):
            return {"input_ids": [self.encode(one, add_special_tokens) for one in text]}
        return super().__call__(text, add_special_tokens)

    def apply_chat_template(self, messages, tools=None, tokenize=False, add_generation_prompt=False, **kwargs):
        return "".join(f"<{m['role']}>{m['content']}" for m in messages) + "<assistant>" * add_generation_prompt


@contextmanager
def serving(script, faults=None, server=VllmServer):
    """A server in a thread with an event loop of its own, as the engines are to a rollout that runs in another."""
    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    double = server(script, faults)

    async def serve():
        async with double:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(5)
    try:
        yield double
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)
        loop.close()
