"""Processes and where they run: Ray, the trainer's ranks, the rollout manager with its engines."""
