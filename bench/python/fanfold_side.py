"""The caller of the Python worker under the benchmark: brings tasks, waits for their end, and reads what the worker used from /proc."""

from __future__ import annotations

import json
import os
import sys
import time

import psycopg
from noop_app import folded

from fanfold import Client

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def used_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def peak_mb(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        line = next(one for one in status if one.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def drain(client: Client, database: psycopg.Connection, pid: int, task_type: str, number: int) -> dict[str, float]:
    """From the moment that tasks may start until all are committed."""
    while not any(one["pid"] == pid for one in client.workers()):
        time.sleep(0.1)
    client.pause_type(task_type)
    before = done(database)
    client.enqueue_many(task_type, ({} for _ in range(number)))
    used, began = used_s(pid), time.perf_counter()
    client.proceed_type(task_type)
    while is_there(database, task_type):
        time.sleep(0.02)
    seconds = time.perf_counter() - began
    assert done(database) - before == number
    time.sleep(0.2)
    return {"seconds": seconds, "cpu_s": used_s(pid) - used}


def is_there(database: psycopg.Connection, task_type: str) -> bool:
    """Looked at where few rows are: to count results again and again would take the machine from the worker."""
    looked = "select exists (select from app.ready where task_type = %s) or exists (select from app.claims where task_type = %s)"
    row = database.execute(looked, (task_type, task_type)).fetchone()
    return row is not None and row[0]


def done(database: psycopg.Connection) -> int:
    row = database.execute("select count(*) from app.results where status = 'completed'").fetchone()
    return 0 if row is None else row[0]


def latency(client: Client, samples: int) -> dict[str, float]:
    for _ in range(samples):
        client.enqueue("bench.started", {"sent_at": time.time()})
        time.sleep(0.1)
    time.sleep(1)
    return {}


def fold(client: Client, pid: int) -> dict[str, float]:
    began = time.perf_counter()
    client.save_job(folded)
    ended = client.run(folded, {}, mode="force", timeout_s=300)
    assert ended["status"] == "completed", client.errors(ended["job_id"])
    assert client.result(ended["job_id"]) == {"sum": 100_000}
    return {"seconds": time.perf_counter() - began, "peak_mb": peak_mb(pid)}


def main() -> None:
    """Orders come line by line as JSON, each is answered with a line."""
    with Client() as client, psycopg.connect(os.environ["BENCH_DATABASE"], autocommit=True) as database:
        print(json.dumps({"ready": True}), flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            if order["what"] == "drain":
                found = drain(client, database, order["pid"], order["task_type"], order["n"])
            elif order["what"] == "latency":
                found = latency(client, order["n"])
            else:
                found = fold(client, order["pid"])
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
