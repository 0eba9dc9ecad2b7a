"""The arithmetic of learning on tensors: logprobs, advantages, losses. Knows neither Megatron nor files nor processes but
for the groups of torch.distributed that it is handed."""
