import importlib


class SingletonMeta(type):
    """A class with this metaclass is made once; later calls give the same object back."""

    _instances: dict[type, object] = {}

    def __call__(cls, *args, **kwargs):
        if cls not in SingletonMeta._instances:
            SingletonMeta._instances[cls] = super().__call__(*args, **kwargs)
        return SingletonMeta._instances[cls]

    @staticmethod
    def clear_all_instances() -> None:
        SingletonMeta._instances.clear()


def load_function(path: str):
    """The object behind a dotted path such as `package.module.function`."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def should_run_periodic_action(rollout_id: int, interval: int | None, num_rollout: int | None = None) -> bool:
    if interval is None:
        return False
    return (rollout_id + 1) % interval == 0 or rollout_id + 1 == num_rollout
