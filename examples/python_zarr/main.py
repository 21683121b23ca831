"""Fills a Zarr store window by window. Half way its worker is killed like a machine that lost its power; another one goes on."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ndvi import Ask, ndvi

from fanfold import Client

HERE = Path(__file__).parent


def worker() -> subprocess.Popen[bytes]:
    # The shortest lease there is, so that the other one need not wait long.
    command = [sys.executable, "-m", "fanfold.worker", "ndvi:app", "--slots", "2", "--lease-s", "5"]
    return subprocess.Popen(command, cwd=HERE)


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--size", type=int, default=1024)
    asked = given.parse_args()
    first, second = worker(), None
    try:
        with Client() as client, tempfile.TemporaryDirectory() as folder:
            client.save_job(ndvi)
            store = str(Path(folder) / "ndvi.zarr")
            job_id = client.submit(ndvi, Ask(store=store, size=asked.size))["job_id"]
            total = (asked.size // 256) ** 2
            done = 0
            while done < total // 2:
                time.sleep(0.05)
                done = sum(1 for one in client.tasks(job_id, stage="2", status="completed"))
            first.kill()
            first.wait()
            print(f"killed with at least {total // 2} of {total} windows done")
            second = worker()
            ended = client.wait(job_id, timeout_s=300)
            print(f"{ended['status']}: {client.result(job_id)}")
            by_first = sum(1 for one in client.results(job_id, stage="2") if one["result"]["by"] == first.pid)
            print(f"what the first worker had done was kept: {by_first >= total // 2}")
    finally:
        for one in (first, second):
            if one is not None:
                one.terminate()
                one.wait()


if __name__ == "__main__":
    main()
