"""Runs a command and tells, as one line of JSON, its seconds, and the processor seconds and the largest memory of all it started."""

import json
import resource
import subprocess
import sys
import time

began = time.monotonic()
code = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": code, "wall_s": time.monotonic() - began, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}))
