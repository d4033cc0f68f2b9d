"""Runs a program and prints what it took, with its children: STDOUT STDERR PROGRAM ARGUMENTS..."""

import json
import os
import subprocess
import sys
import time

with open(sys.argv[1], "wb") as stdout, open(sys.argv[2], "wb") as stderr:
    start = time.perf_counter()
    child = subprocess.Popen(
        sys.argv[3:], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start

kilobyte = 1 if sys.platform == "darwin" else 1024
figures = {
    "code": os.waitstatus_to_exitcode(status),
    "wall": wall,
    "cpu": usage.ru_utime + usage.ru_stime,
    "megabytes": usage.ru_maxrss * kilobyte / 1e6,
}
print(json.dumps(figures))
