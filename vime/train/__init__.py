"""The loop: generate, train, save, sync, evaluate, again."""
