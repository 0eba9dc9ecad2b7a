"""Laws of the plan and of how tensors lie in a bucket."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.backends.megatron_utils.update_weight.plan import plan_weights, update_info
from vime.backends.vllm_utils.weight_transfer.layout import ALIGNMENT, DTYPE_BYTES, TensorMeta, aligned, buckets_of

shapes = st.lists(st.integers(0, 9), max_size=3).map(tuple)
tensors = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(sorted(DTYPE_BYTES)), shapes), max_size=12).map(
    lambda rows: [TensorMeta(f"b{block}.t{number}.weight", *row) for number, (block, *row) in enumerate(rows)]
)


@settings(max_examples=60)
@given(tensors, st.integers(1, 4000))
def test_every_tensor_once_in_order_within_the_bytes(metas, limit):
    plan = plan_weights(metas, limit)
    assert list(plan.tensors) == metas
    assert plan.nbytes == sum(meta.nbytes for meta in metas)
    for bucket in plan.buckets:
        assert bucket.tensors
        assert bucket.nbytes <= limit or len(bucket.tensors) == 1
        ends = [offset + meta.nbytes for offset, meta in zip(bucket.offsets, bucket.tensors, strict=True)]
        assert all(offset % ALIGNMENT == 0 for offset in bucket.offsets)
        assert all(end <= begin for end, begin in zip(ends, (*bucket.offsets[1:], bucket.nbytes), strict=True))


@settings(max_examples=60)
@given(tensors, st.integers(1, 4000))
def test_a_bucket_ends_where_the_next_block_or_tensor_has_no_room(metas, limit):
    buckets = plan_weights(metas, limit).buckets
    blocks = [list(block) for _, block in itertools.groupby(metas, lambda meta: meta.name.split(".")[0])]
    for this, following in itertools.pairwise(buckets):
        (block,) = [one for one in blocks if following.tensors[0] in one]
        cut = block[: block.index(following.tensors[0])]
        needed = [following.tensors[0]] if cut else block
        assert this.nbytes + sum(aligned(meta.nbytes) for meta in needed) > limit
        assert not cut or sum(aligned(meta.nbytes) for meta in block) > limit


@settings(max_examples=60)
@given(tensors, st.integers(1, 4000))
def test_the_engine_sees_the_same_buckets(metas, limit):
    plan = plan_weights(metas, limit)
    info = update_info(plan.tensors)
    counts = [len(bucket.tensors) for bucket in plan.buckets]
    assert buckets_of(info["names"], info["dtype_names"], info["shapes"], counts) == list(plan.buckets)


def test_a_name_comes_once():
    with pytest.raises(ValueError, match="twice"):
        plan_weights([TensorMeta("a", "float32", (1,)), TensorMeta("a", "float32", (1,))], 10)


@pytest.mark.parametrize(
    "wrong", [(["a"], ["float32"], [[1]], [2]), (["a"], [], [[1]], [1]), (["a"], ["complex64"], [[1]], [1])]
)
def test_lists_that_disagree(wrong):
    with pytest.raises(ValueError):
        buckets_of(*wrong)
