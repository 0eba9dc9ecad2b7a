"""Takes as many free GPUs as asked for, by file locks, and runs the command with only those visible."""

import argparse
import fcntl
import os
import time


def take(count: int, total: int = 8) -> list[int]:
    while True:
        held = {}
        for gpu in range(total):
            lock = open(f"/tmp/gpu_{gpu}.lock", "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            held[gpu] = lock
            if len(held) == count:
                for one in held.values():
                    os.set_inheritable(one.fileno(), True)
                return sorted(held)
        for lock in held.values():
            lock.close()
        time.sleep(5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, take(options.count)))
    command = [word for word in options.command if word != "--"]
    os.execvp(command[0], command)
