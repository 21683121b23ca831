"""A server that test/python/package.test.ts has opened: FANFOLD_TEST_URL and FANFOLD_TEST_KEY. Without it those tests are left out."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from dataclasses import dataclass

import pytest

if os.environ.get("FANFOLD_TEST_WITHOUT_PYDANTIC") == "1":
    # As where it is not installed.
    sys.modules["pydantic"] = None  # type: ignore[assignment]

from fanfold import Client


@dataclass(frozen=True)
class Service:
    url: str
    key: str
    # A key that may work and nothing else.
    work_key: str


@pytest.fixture(scope="session")
def service() -> Service:
    url = os.environ.get("FANFOLD_TEST_URL")
    if url is None:
        pytest.skip("there is no server: npx vitest run test/python")
    return Service(url, os.environ["FANFOLD_TEST_KEY"], os.environ["FANFOLD_TEST_WORK_KEY"])


@pytest.fixture(scope="session")
def client(service: Service) -> Generator[Client, None, None]:
    with Client(service.url, service.key) as made:
        yield made
