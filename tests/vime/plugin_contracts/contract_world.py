"""Where a contract's function comes from: VIME_CONTRACT_<KEY> in the environment, else an example of these tests."""

import os

PREFIX = "VIME_CONTRACT_"


def contract_path(kind, default):
    """The dotted path of the function for the option `kind`, as VIME_CONTRACT_CUSTOM_RM_PATH for custom_rm_path."""
    return os.environ.get(PREFIX + kind.upper(), default)
