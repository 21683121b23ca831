"""What of the engines needs none of them: settings, declarations, and words for what is missing."""

from __future__ import annotations

import pytest
import shop

from fanfold import App, Context, DeclarationError, SettingsError, handler
from fanfold.engines.dask_client import prefixed
from fanfold.engines.ray_cluster import serve_on_cluster
from fanfold.settings import read_settings
from fanfold.testing import run_handler


def test_addresses_of_clusters_are_read_strictly() -> None:
    with pytest.raises(SettingsError) as wrong:
        read_settings({"FANFOLD_DASK_ADDRESS": "dask:8786", "FANFOLD_EXECUTOR": "spark://x"})
    assert [one.path for one in wrong.value.problems] == ["FANFOLD_DASK_ADDRESS", "FANFOLD_EXECUTOR"]
    for place in ("ray://head:10001", "ray:auto", "ray:local", "ray:10.0.0.1:6379"):
        assert read_settings({"FANFOLD_EXECUTOR": place}).executor == place


@handler("engines.dask")
def wants_dask(ctx: Context) -> None:
    with ctx.dask():
        return


def test_a_worker_without_a_dask_cluster_says_what_to_set() -> None:
    outcome = run_handler(wants_dask)
    assert outcome.failure is not None
    assert (outcome.failure.category, outcome.failure.code) == ("permanent", "no_dask")
    assert "FANFOLD_DASK_ADDRESS" in outcome.failure.message


def test_keys_are_prefixed_once() -> None:
    assert prefixed("_f-", ("sum-1", 0)) == ("_f-sum-1", 0)
    assert prefixed("_f-", "_f-sum-1") == "_f-sum-1"


def test_what_a_cluster_cannot_import_or_may_not_decide_is_refused_at_the_start() -> None:
    def inside() -> None:
        return None

    with pytest.raises(DeclarationError, match="max_retries"):
        App(handlers=[handler("engines.retries", inside, ray={"max_retries": 3})]).registry()
    with pytest.raises(DeclarationError, match="a module names"):
        serve_on_cluster(App(handlers=[handler("engines.inside", inside)]).registry())
    registry = shop.app.registry()
    serve_on_cluster(registry)
    assert {one.kind for one in registry.served.values()} == {"cluster"}
