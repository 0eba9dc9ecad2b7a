from slime.utils.http_utils import find_available_port, get_host_info


class RayActor:
    """What each remote actor can be asked: where it runs, and for a free port there."""

    @staticmethod
    def get_node_ip_and_free_port(start_port: int = 15000) -> tuple[str, int]:
        return get_host_info()[1], find_available_port(start_port)
