"""Runs a command and tells, as one line of JSON, its seconds, the processor seconds of all it started, and the most memory they had at once.

What loses its parent becomes a child of this one (Linux), so that nothing detached is left out; what outlives the command is waited for.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 20
page_mb = resource.getpagesize() / 2**20


def below(root):
    """The processes below one, with the megabytes each has."""
    parents, sizes = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)], sizes[int(name)] = int(fields[1]), int(fields[21]) * page_mb
    found, level = {}, {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level and pid not in found}
        found.update((pid, sizes[pid]) for pid in level)
    return found


class Peak(threading.Thread):
    mb = 0.0

    def run(self):
        while True:
            self.mb = max(self.mb, sum(below(os.getpid()).values()))
            time.sleep(0.2)


def outlived(until):
    """Waits for what is left, which adds its seconds to those of the children."""
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return
    raise SystemExit(f"still running after {PATIENCE_S} s: {sorted(below(os.getpid()))}")


if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    raise SystemExit("this needs Linux: it cannot become the parent of what is left behind")
peak = Peak(daemon=True)
peak.start()
began = time.monotonic()
code = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
wall_s = time.monotonic() - began
outlived(time.monotonic() + PATIENCE_S)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": code, "wall_s": wall_s, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": peak.mb}))
