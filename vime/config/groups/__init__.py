"""The option tables, a module a group. To add a group: its dataclass here, its name in `GROUPS`."""

from vime.config.groups.algorithm import Algorithm
from vime.config.groups.checkpoint import Checkpoint
from vime.config.groups.cluster import Cluster
from vime.config.groups.data import Data
from vime.config.groups.debug import Debug
from vime.config.groups.evaluation import Evaluation
from vime.config.groups.logs import Logs
from vime.config.groups.model import Model
from vime.config.groups.optimizer import Optimizer
from vime.config.groups.parallel import Parallel
from vime.config.groups.reward import Reward
from vime.config.groups.rollout import Rollout
from vime.config.groups.weights import Weights

GROUPS: tuple[type, ...] = (
    Cluster,
    Model,
    Parallel,
    Rollout,
    Data,
    Reward,
    Algorithm,
    Optimizer,
    Checkpoint,
    Weights,
    Evaluation,
    Logs,
    Debug,
)
