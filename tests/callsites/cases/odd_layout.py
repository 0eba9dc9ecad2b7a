# -*- coding: utf-8 -*-
'''Single quotes, continuation lines, semicolons, comments in between, trailing commas.'''

from slime.rollout.sglang_rollout import GenerateState  # the state
from slime.utils.http_utils import (
    post,  # the sender
)

async def generate(args, sample, sampling_params) :
    ids = GenerateState(args).tokenizer.encode(sample.prompt); url = 'http://' \
        + args.sglang_router_ip + ':%d' % args.sglang_router_port + '/generate'
    output = await post(
        url,
        {
            'input_ids': ids,  # the prompt
            # what to sample with
            'sampling_params': sampling_params ,
            'return_logprob' : True,
        },
    )
    sample.tokens = ids + [
        p [1]  # the token
        for p in output ['meta_info'] ['output_token_logprobs']
    ] ; sample.response = output["text"]
    if output['meta_info']['finish_reason']['type'] == 'abort': sample.status = sample.Status.ABORTED
    return sample
