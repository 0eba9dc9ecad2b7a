"""Streaming under drawn schedules of delays, faults, wires and aborts: the answer of the undisturbed run, or FAILED."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options
from stream_world import chunk, event, usage, use_bytes

from vime.rollout import vllm_rollout
from vime.rollout.engine_call import RetryPolicy
from vime.rollout.vllm_streaming_rollout import generate_streaming
from vime.utils import http_utils
from vime.utils.http_client import HttpConnectionError, HttpStatusError
from vime.utils.lines import LineSplitter
from vime.utils.types import Sample

Status = Sample.Status
TEXT = "a€ héllo 👩 漢字 and on"
FAULTS = ("none", "none", "none", "cut", "no end", "error", "damaged", "refused", "unavailable", "malformed")
ATTEMPT = st.fixed_dictionaries({
    "fault": st.sampled_from(FAULTS), "at": st.integers(0, 12), "step": st.integers(1, 5),
    "write": st.integers(1, 400), "sleep": st.booleans(), "crlf": st.booleans(),
})  # fmt: skip
SCHEDULE = st.fixed_dictionaries({
    "attempts": st.lists(ATTEMPT, max_size=12),
    "aborts": st.lists(st.integers(1, 25), max_size=3),
    "told": st.booleans(), "mask": st.booleans(), "samples": st.integers(1, 3), "budget": st.integers(1, 40),
})  # fmt: skip
PLAIN = {"fault": "none", "at": 0, "step": 2, "write": 400, "sleep": False, "crlf": False}


class ScriptedClient:
    """An engine whose every answer goes on with TEXT, seen through a client: it has no sockets, and goes by the plan."""

    def __init__(self, plan, state):
        self.attempts, self.state = list(plan["attempts"]), state
        self.aborts, self.told, self.served, self.open = list(plan["aborts"]), plan["told"], 0, 0

    @asynccontextmanager
    async def stream(self, method, url, *, json, headers=None):
        attempt = self.attempts.pop(0) if self.attempts else PLAIN
        if attempt["fault"] == "unavailable":
            raise HttpStatusError(503, url, "no worker")
        self.open += 1
        try:
            yield Response(self, attempt, json, url)
        finally:
            self.open -= 1

    def serve(self):
        """A chunk was sent; whether the rollout is aborted by now."""
        self.served += 1
        if self.aborts and self.served >= self.aborts[0]:
            self.aborts.pop(0)
            self.served = 0
            self.state.aborted = True
        return self.state.aborted


class Response:
    def __init__(self, client, attempt, request, url):
        self.client, self.attempt, self.url = client, attempt, url
        self.rest = list(TEXT.encode())[len(request["token_ids"]) - 2 :]
        self.budget = request["sampling_params"]["max_tokens"]

    def raise_for_status(self):
        if self.attempt["fault"] == "refused":
            raise HttpStatusError(400, self.url, "refused")

    async def aiter_lines(self):
        lines, size = LineSplitter(), self.attempt["write"]
        async for data in self._events():
            for start in range(0, len(data), size):
                for line in lines.feed(data[start : start + size]):
                    yield line
            if self.attempt["sleep"]:
                await asyncio.sleep(0)
        for line in lines.close():
            yield line

    async def _events(self):
        end, fault, step = "\r\n" if self.attempt["crlf"] else "\n", self.attempt["fault"], self.attempt["step"]
        ids = self.rest[: self.budget]
        finish = "length" if len(ids) < len(self.rest) or len(ids) == self.budget else "stop"
        for number, start in enumerate(range(0, len(ids), step)):
            part, last = ids[start : start + step], start + step >= len(ids)
            if number == self.attempt["at"]:
                if fault == "cut":
                    raise HttpConnectionError("cut", self.url)
                if fault == "no end":
                    return
                if fault == "error":
                    yield event({"error": {"message": "engine failed", "code": 500}}, end)
                    return
                if fault in ("malformed", "damaged"):
                    yield event("{", end)
                if fault == "damaged" and not last:
                    continue
            yield event(of(part, finish if last else None, start + len(part)), end)
            if self.client.serve() and self.client.told and not last:
                yield event(of([], "abort", start + len(part)), end)
                yield event(usage(start + len(part)), end)
                return
        yield event(usage(len(ids)), end)
        yield event("[DONE]", end)


def of(ids, finish, count):
    spans = [{"version": "1", "start": 0, "end": count}] if finish else None
    logprobs = {"content": [{"logprob": -1.0 - token / 1000} for token in ids]}
    return chunk(finish=finish, token_ids=ids, logprobs=logprobs, weight_versions=spans)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with pytest.MonkeyPatch.context() as patch:
        use_bytes(patch)
        patch.setattr(RetryPolicy, "delay", lambda *_: 0.0)
        patch.setattr("vime.rollout.stream_reading._LAST_CHUNK_WITHIN", 0.002)
        patch.setattr(http_utils, "_http_client", None)
        yield


async def go_on(args, sample, plan):
    """One round of a sample, as the rollout does it; what is checked after each."""
    if sample.status not in (Status.PENDING, Status.ABORTED):
        return
    if plan["mask"] and sample.response_length:
        sample.loss_mask = [0] * sample.response_length
    before = sample.response_length
    await generate_streaming(args, sample, {"max_new_tokens": plan["budget"], "no_stop_trim": True})
    response = sample.tokens[2:]
    assert sample.tokens[:2] == list(b"ab") and len(response) == sample.response_length >= before
    assert sample.response == bytes(response).decode("utf-8", "replace")
    if sample.status is not Status.FAILED:
        assert response == list(TEXT.encode())[: len(response)]
    assert (sample.rollout_log_probs or []) == [-1.0 - token / 1000 for token in response]
    if sample.loss_mask is not None:
        assert sample.loss_mask == [0 if plan["mask"] else 1] * before + [1] * (len(response) - before)
    assert sample.status is not Status.PENDING


@settings(max_examples=1000, deadline=None)
@given(plan=SCHEDULE)
def test_whatever_happens_the_answer_is_whole_or_the_sample_failed(plan):
    async def rounds():
        vllm_rollout.GenerateState.clear_instances()
        args = options(vllm_router_port=1, rollout_request_attempts=2)
        state = vllm_rollout.GenerateState(args)
        http_utils._http_client = client = ScriptedClient(plan, state)
        samples = [Sample(prompt="ab", index=i) for i in range(plan["samples"])]
        for _ in range(5):
            state.aborted = False
            await asyncio.wait_for(asyncio.gather(*(go_on(args, sample, plan) for sample in samples)), 5)
            assert client.open == 0 and (state.aborted or all(s.status is not Status.ABORTED for s in samples))
        return samples

    whole = list(TEXT.encode())
    for sample in asyncio.run(rounds()):
        if sample.status is Status.FAILED:
            assert sample.remove_sample and sample.metadata["generation_failed"]
            continue
        assert sample.tokens[2:] == whole[: plan["budget"]]
        ended = Status.COMPLETED if plan["budget"] > len(whole) else Status.TRUNCATED
        assert sample.status is ended and set(sample.weight_versions) <= {"1"}
