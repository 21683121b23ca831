"""The example examples/odc_stac: scenes, their items, and their median on a Dask cluster."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Service, serving

from fanfold import Client

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "odc_stac"


def test_tiles_of_a_median_over_time_are_computed_on_the_cluster(
    service: Service, client: Client, tmp_path: Path
) -> None:
    import rasterio
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="800MB") as cluster:
        made: Any = cluster
        env = {
            "PYTHONPATH": str(EXAMPLE),
            "FANFOLD_DASK_ADDRESS": str(made.scheduler_address),
            "FANFOLD_SECRET_DEFAULT__STAC_KEY": service.key,
        }
        with service.worker("composite:app", "--slots", "2", "--processes", "1", **env) as worker:
            serving(client, worker)
            days = [f"2024-06-{day:02}" for day in (1, 2, 9)]
            ask = {"collection": "odc_ndvi", "days": days, "tiles": [[10, 50, 10.5, 51], [10.5, 50, 11, 51]]}
            done = client.run("odc_composites", ask, timeout_s=300)
            assert done["status"] == "completed", client.errors(done["job_id"])
        assert not list(made.scheduler.tasks)
        assert any("ndvi" in name and name.startswith("fanfold-") for name in made.scheduler.task_prefixes)
    results = [one["result"] for one in client.results(done["job_id"]) if one["task_type"] == "odc.composite"]
    assert [(one["scenes"], one["shape"]) for one in results] == [(3, [100, 50]), (3, [100, 50])]
    # The day in the middle, and the slope from west to east.
    assert results[0]["mean"] == pytest.approx(2 + 0.245, abs=1e-3)
    assert results[1]["mean"] == pytest.approx(2 + 0.745, abs=1e-3)
    with rasterio.open(client.download(results[0]["ref"], tmp_path / "median.tif")) as median:
        assert median.read(1)[0, 10] == pytest.approx(2.1, abs=1e-3)
