"""A teacher of an option's address in a class, its session kept."""

import aiohttp


class Teacher:
    def __init__(self, url):
        self.url = url

    def body(self, tokens):
        return {
            "input_ids": list(tokens),
            "sampling_params": {"temperature": 0, "max_new_tokens": 0, "skip_special_tokens": False},
            "return_logprob": True,
            "logprob_start_len": 0,
        }

    async def score(self, tokens):
        async with aiohttp.ClientSession() as session:
            async with session.post(self.url, json=self.body(tokens)) as response:
                response.raise_for_status()
                data = await response.json(content_type=None)
        return self.read(data)

    def read(self, data):
        info = data["meta_info"]
        return [(tok, lp) for lp, tok, _ in info["input_token_logprobs"] if lp is not None]


async def generate(args, sample, sampling_params):
    scores = await Teacher(args.rm_url).score(sample.tokens)
    sample.teacher_log_probs = [lp for _, lp in scores][-sample.response_length :]
    sample.metadata["tokens"] = [tok for tok, _ in scores]
    return sample
