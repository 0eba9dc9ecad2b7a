"""Supervised rollouts with masks by turn, and samples in files."""

import json
import subprocess
import sys

import pytest
from rollout_world import options

from vime.observability.rollout_data_utils import (
    RolloutDumpError,
    load_debug_rollout_data,
    save_debug_rollout_data,
    validate_rollout_id_annotated,
    validate_rollout_routed_experts_for_replay,
)
from vime.rollout import sft_rollout
from vime.rollout.data_source import RolloutDataSource
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.mask_utils import MaskError, MultiTurnLossMaskGenerator, get_response_lengths
from vime.utils.sample_codec import dumps_sample, loads_sample
from vime.utils.types import Sample


class ChatTokenizer:
    """One token a character; a template as Qwen's, with a default system text and, where asked, without old thoughts."""

    def __init__(self, system="", drops_thinking=False, added=()):
        self.system, self.drops_thinking, self.added = system, drops_thinking, added

    def get_added_vocab(self):
        return dict.fromkeys(self.added, 1)

    def __call__(self, text, add_special_tokens=True, return_offsets_mapping=False):
        ids = [ord(character) for character in text]
        return {"input_ids": ids, "offset_mapping": [(i, i + 1) for i in range(len(ids))]}

    def decode(self, ids):
        return "".join(map(chr, ids))

    def apply_chat_template(self, messages, tools=None, tokenize=True, add_generation_prompt=False, return_dict=False):
        text = "" if messages[0]["role"] == "system" or not self.system else self._one("system", self.system)
        text += f"[{len(tools)} tools]" if tools else ""
        last_user = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
        for i, message in enumerate(messages):
            content = message["content"]
            if self.drops_thinking and i < last_user:
                content = content.rpartition("</think>")[2]
            if message["role"] == "tool":
                first = i == 0 or messages[i - 1]["role"] != "tool"
                last = i + 1 == len(messages) or messages[i + 1]["role"] != "tool"
                text += "<|im_start|>user\n" * first + f"<tool>{content}</tool>\n" + "<|im_end|>\n" * last
            else:
                text += self._one(message["role"], content)
        text += "<|im_start|>assistant\n" * add_generation_prompt
        return self(text)["input_ids"] if tokenize else text

    def _one(self, role, content):
        return f"<|im_start|>{role}\n{content}<|im_end|>\n"


def m(role, content, **more):
    return {"role": role, "content": content, **more}


CHAT = [m("user", "q"), m("assistant", "<think>t</think>a"), m("tool", "1"), m("tool", "2"), m("assistant", "b"), m("user", "r"), m("assistant", "c")]  # fmt: skip


@pytest.mark.parametrize("kind", ["qwen", "qwen3"])
@pytest.mark.parametrize("system", ["", "You are."])
@pytest.mark.parametrize("drops", [False, True])
def test_what_the_assistant_said_is_trained_on_as_it_was_said(kind, system, drops):
    masks = MultiTurnLossMaskGenerator(ChatTokenizer(system, drops), kind)
    ids, mask = masks.get_loss_mask(CHAT)
    said = ["<think>t</think>a<|im_end|>\n", "b<|im_end|>\n", "c<|im_end|>\n"]
    assert masks.get_text_from_loss_mask(ids, mask) == said
    assert len(ids) == len(mask)
    text = masks.tokenizer.decode(ids)
    assert text.count("system") == bool(system)
    assert "<|im_start|>user\n<tool>1</tool>\n<tool>2</tool>\n<|im_end|>\n" in text
    if not drops:
        assert ids == masks.tokenizer.apply_chat_template(CHAT)


def test_a_system_text_of_its_own_tools_and_turns_left_out():
    masks = MultiTurnLossMaskGenerator(ChatTokenizer("default"), "qwen")
    chat = [m("system", "mine"), m("user", "q"), m("assistant", "a", step_loss_mask=0), m("user", "r"), m("assistant", "b")]  # fmt: skip
    ids, mask = masks.get_loss_mask(chat, tools=[1, 2])
    assert masks.get_text_from_loss_mask(ids, mask) == ["b<|im_end|>\n"]
    text = masks.tokenizer.decode(ids)
    assert text.startswith("[2 tools]<|im_start|>system\nmine") and "default" not in text


def test_other_ways():
    assert MultiTurnLossMaskGenerator(ChatTokenizer(), "qwen3_5").get_loss_mask(CHAT)[0] == ChatTokenizer().apply_chat_template(CHAT)  # fmt: skip
    masks = MultiTurnLossMaskGenerator(ChatTokenizer(), "qwen3_5")
    thinking = [m("user", "q"), m("assistant", "<think>\nt</think>a")]
    assert masks.get_text_from_loss_mask(*masks.get_loss_mask(thinking)) == ["t</think>a<|im_end|>\n"]
    distilled = MultiTurnLossMaskGenerator(ChatTokenizer(added=["<｜Assistant｜>"]), "qwen")
    assert distilled.get_text_from_loss_mask(*distilled.get_loss_mask(CHAT[:2])) == ["<think>t</think>a"]
    with pytest.raises(MaskError, match="no way to mask"):
        MultiTurnLossMaskGenerator(ChatTokenizer(), "gemma").get_loss_mask(CHAT)
    assert get_response_lengths([[0, 1, 0], [0, 0], []]) == [2, 0, 0]
    with_image = [m("user", [{"type": "image"}, {"type": "text", "text": "q"}]), m("assistant", "a")]
    text_mask = masks.get_loss_mask([m("user", "q"), m("assistant", "a")])[1]
    ids, mask = masks.get_loss_mask_with_multimodal_alignment(with_image, list(range(100)))
    assert len(ids) == 100 and mask == [0] * (100 - len(text_mask)) + text_mask
    with pytest.raises(MaskError, match="do not fit"):
        masks.get_loss_mask_with_multimodal_alignment(with_image, [1])


@pytest.fixture
def conversations(monkeypatch, tmp_path):
    from vime.rollout import data_source

    for module in (sft_rollout, data_source):
        monkeypatch.setattr(module, "load_tokenizer", lambda *_, **__: ChatTokenizer())
    monkeypatch.setattr(data_source, "load_processor", lambda *_, **__: None)

    def make(*chats, **more):
        path = tmp_path / "c.jsonl"
        path.write_text("".join(json.dumps({"input": chat}) + "\n" for chat in chats))
        given = {"label_key": None, "n_samples_per_prompt": 1, "rollout_batch_size": 2, "loss_mask_type": "qwen3"}
        args = options(prompt_data=str(path), loss_type="sft_loss", **{**given, **more})
        return args, RolloutDataSource(args)

    return make


def test_a_supervised_rollout(conversations):
    args, source = conversations(CHAT, CHAT[:2])
    output = sft_rollout.generate_rollout(args, 0, source)
    batch = convert_samples_to_train_data(args, output.samples)
    assert batch["response_lengths"] == [len(mask) for mask in batch["loss_masks"]]
    assert all(mask[0] == 1 for mask in batch["loss_masks"]) and "rollout_log_probs" not in batch
    source.check_balance()


@pytest.mark.parametrize(
    ("chat", "options_", "message"),
    [
        ([m("user", "q")], {}, "no message of an assistant"),
        ("text", {}, "the prompt is text, not messages"),
        (CHAT, {"n_samples_per_prompt": 2}, "--n-samples-per-prompt 1"),
    ],
)
def test_what_cannot_be_learnt_from_is_named(conversations, chat, options_, message):
    args, source = conversations(chat, **options_)
    with pytest.raises(ValueError, match=message):
        sft_rollout.generate_rollout(args, 0, source)


def samples():
    one = Sample(index=1, prompt="p\u2028", reward={"a": 0.1 + 0.2}, metadata={"t": (1, b"\xff"), "$odd": {2: 3}})
    one.append_response_tokens(tokens=[1], log_probs=[-1 / 3], text="x")
    one.extra = "kept"
    return [one, Sample(index=2), Sample(index=3), Sample(index=4)]


def test_samples_come_back_from_a_line():
    for sample in samples():
        assert vars(loads_sample(dumps_sample(sample))) == vars(sample)
    with pytest.raises(TypeError, match=r"sample 1: metadata.x is a object"):
        dumps_sample(Sample(index=1, metadata={"x": object()}))


@pytest.mark.parametrize("suffix", [".jsonl", ".pt"])
def test_dumps(tmp_path, suffix):
    if suffix == ".pt":
        pytest.importorskip("torch")
    template = str(tmp_path / ("d/{rollout_id}" + suffix))
    save_debug_rollout_data(None, [], rollout_id=0, evaluation=False)
    save_debug_rollout_data(template, samples(), rollout_id=3, evaluation=False)
    save_debug_rollout_data(template, {"held": {"samples": samples()[:1]}}, rollout_id=3, evaluation=True)
    assert [path.name for path in sorted((tmp_path / "d").iterdir())] == [f"3{suffix}", f"eval_3{suffix}"]
    loaded = load_debug_rollout_data(template, rollout_id=3)
    assert [vars(one) for one in loaded] == [vars(one) for one in samples()]
    some = load_debug_rollout_data(template, rollout_id=3, subsample_ratio=0.5)
    assert [one.index for one in some] == [1, 4]
    assert len(load_debug_rollout_data(str(tmp_path / f"d/eval_3{suffix}"), rollout_id=0)) == 1


def test_what_is_no_dump_is_named(tmp_path):
    (tmp_path / "0.jsonl").write_text('{"status": "pending"}\n{"status": "unheard of"}\n')
    with pytest.raises(RolloutDumpError, match=r"0.jsonl:2: no sample"):
        load_debug_rollout_data(str(tmp_path / "{rollout_id}.jsonl"), rollout_id=0)
    torch = pytest.importorskip("torch")
    torch.save({"samples": [Sample()]}, tmp_path / "0.pt")
    with pytest.raises(RolloutDumpError, match="write it anew"):
        load_debug_rollout_data(str(tmp_path / "{rollout_id}.pt"), rollout_id=0)


def test_ids_of_fan_outs():
    validate_rollout_id_annotated([[Sample(), Sample()]])
    validate_rollout_id_annotated([[[Sample(rollout_id=1), Sample(rollout_id=1)], [Sample()]]])
    for ids in ((None, None), (1, 2)):
        with pytest.raises(ValueError, match="one for all"):
            validate_rollout_id_annotated([[[Sample(rollout_id=one) for one in ids]]])


def test_routed_experts_that_cannot_be_replayed():
    np = pytest.importorskip("numpy")
    args = options(num_layers=2, moe_router_topk=2, moe_layer_freq=[0, 1])
    good = np.ones((3, 2, 2), np.int32)
    validate_rollout_routed_experts_for_replay([good], args)
    silent = good.copy()
    silent[:, 1] = 0
    for wrong, message in (([], "no routed experts"), ([good[:, :1]], "of shape"), ([silent], r"layers \[1\]")):
        with pytest.raises(ValueError, match=message):
            validate_rollout_routed_experts_for_replay(wrong, args)


def test_the_rollout_side_does_not_import_torch():
    code = (
        "import sys; import vime.rollout.vllm_rollout, vime.rollout.sft_rollout, vime.rollout.data_source\n"
        "import vime.rollout.train_data, vime.rollout.hooks, vime.observability.rollout_data_utils\n"
        "assert not {'torch', 'ray', 'transformers', 'numpy', 'vllm', 'sympy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
