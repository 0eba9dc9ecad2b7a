from vime.rollout.vllm_rollout import _build_sampling_params


def test_names_and_what_is_left_out():
    ours = {
        "max_new_tokens": 5,
        "temperature": 1.0,
        "top_k": -1,
        "stop": None,
        "no_stop_trim": True,
    }
    assert _build_sampling_params(ours) == {
        "max_tokens": 5,
        "logprobs": 1,
        "temperature": 1.0,
        "include_stop_str_in_output": True,
    }


def test_the_seed_of_a_deterministic_run_is_sent():
    assert _build_sampling_params({"max_new_tokens": 1, "sampling_seed": 7})["seed"] == 7
