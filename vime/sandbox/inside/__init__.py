"""What runs within the sandbox's own processes: standard library only, and nothing of the owner's."""
