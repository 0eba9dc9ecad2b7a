"""Streaming from a real vLLM server: the plain rollout's tokens, and after any number of aborts the same text."""

import asyncio
import importlib.util
from itertools import pairwise

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vLLM"),
]
for needed in ("torch", "transformers", "tokenizers", "vllm"):
    pytest.importorskip(needed)

import sync_world
from rollout_world import options

from vime.config.packages import schema
from vime.config.resolve import resolve
from vime.rollout import stream_reading
from vime.rollout.partial_sample import PartialSample, response_of
from vime.rollout.vllm_rollout import GenerateState, generate
from vime.rollout.vllm_streaming_rollout import generate_streaming
from vime.utils.http_utils import post
from vime.utils.types import Sample

TOKENS = 40
PROMPTS = ["abc", "xyz{}", "hello", "world", "p", "qqqqqqqq"]
GREEDY = {"max_new_tokens": TOKENS, "temperature": 0.0, "no_stop_trim": True, "ignore_eos": True}


def byte_tokenizer():
    """A token a byte, of letters and of characters that take several: what a random model says is broken text, mostly."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    itself = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in itself]
    letters = {byte: chr(byte) for byte in itself} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    used = [*range(0x61, 0x80), *range(0x80, 0xC0), *range(0xC2, 0xE0)][: sync_world.VOCAB - 3]
    words = ["<pad>", "<eos>", "<unk>", *(letters[byte] for byte in used)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<pad>", unk_token="<unk>")


@pytest.fixture(scope="module")
def args(tmp_path_factory):
    root = tmp_path_factory.mktemp("streaming")
    sync_world.tiny_model(root / "model", tied=False, seed=1)
    byte_tokenizer().save_pretrained(root / "model")
    words = [f"--hf-checkpoint={root / 'model'}", "--device=cpu", "--actor-num-gpus-per-node=1", "--num-rollout=1"]
    words += ["--rollout-batch-size=1", "--prompt-data=x", "--rollout-max-response-len=64"]
    (root / "logs").mkdir()
    with sync_world.servers(resolve(words, [], schema()), 1, root / "logs") as (server,):
        host, _, port = server.url.removeprefix("http://").partition(":")
        yield options(hf_checkpoint=str(root / "model"), vllm_router_ip=host, vllm_router_port=int(port))


def url_of(args):
    return f"http://{args.vllm_router_ip}:{args.vllm_router_port}"


def samples_of(function, args):
    async def go():
        return await asyncio.gather(*(function(args, Sample(prompt=text), dict(GREEDY)) for text in PROMPTS))

    return asyncio.run(go())


@pytest.fixture(scope="module")
def uninterrupted(args):
    return samples_of(generate_streaming, args)


def near(left, right):
    return all(abs(one - other) <= 1e-5 for one, other in zip(left, right, strict=True))


def test_plain_and_streamed_rollouts_say_the_same(args, uninterrupted):
    for plain, streamed in zip(samples_of(generate, args), uninterrupted, strict=True):
        assert plain.tokens == streamed.tokens and streamed.response_length == TOKENS
        assert near(plain.rollout_log_probs, streamed.rollout_log_probs)
        assert plain.weight_versions == streamed.weight_versions and plain.status is streamed.status
        assert plain.prefix_cache_info.total_prompt_tokens == streamed.prefix_cache_info.total_prompt_tokens > 0


@pytest.mark.parametrize("every", [1, 2, 3, 7, 19])
@pytest.mark.parametrize("told", [True, False], ids=["the engine is told", "the client hangs up"])
def test_abort_at_every_kth_token_and_go_on(args, uninterrupted, every, told, monkeypatch):
    if not told:
        monkeypatch.setattr(stream_reading, "_LAST_CHUNK_WITHIN", 0.0)

    async def go(text):
        sample, state, tasks = Sample(prompt=text), GenerateState(args), []
        until = 0

        def add_and_abort(partial, delta, add=PartialSample.add):
            add(partial, delta)
            if not state.aborted and sample.response_length >= until:
                state.aborted = True
                if told:
                    tasks.append(asyncio.create_task(post(url_of(args) + "/abort_requests", {})))

        lengths = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PartialSample, "add", add_and_abort)
            while sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED):
                state.aborted, until = False, sample.response_length + every
                await generate_streaming(args, sample, dict(GREEDY))
                lengths.append(sample.response_length)
                assert len(sample.rollout_log_probs) == len(sample.loss_mask) == sample.response_length
                assert sample.response == state.tokenizer.decode(response_of(sample), skip_special_tokens=True)
        await asyncio.gather(*tasks)
        return sample, lengths

    for text, whole in list(zip(PROMPTS, uninterrupted, strict=True))[:2]:
        sample, lengths = asyncio.run(go(text))
        assert sample.tokens == whole.tokens and sample.response == whole.response and len(lengths) > 1
        assert near(sample.rollout_log_probs, whole.rollout_log_probs) and sample.status is whole.status
        assert set(sample.weight_versions) <= set(whole.weight_versions)
        if not told:  # a chunk has more than one token where the client was slow
            parts = [end - begin for begin, end in pairwise([0, *lengths[:-1]])]
            assert min(parts) >= every and (every > 3 or len(parts) > TOKENS // every // 2)
