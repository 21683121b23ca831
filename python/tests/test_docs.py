"""The documentation is run, not believed: its first example, its client and its tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Service

from fanfold.testing import worker

TEXT = (Path(__file__).parent.parent.parent / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_documentation_runs_as_it_stands(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic")
    assert len(BLOCKS[0].splitlines()) <= 32
    (tmp_path / "words.py").write_text(BLOCKS[0])
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("FANFOLD_URL", service.url)
    monkeypatch.setenv("FANFOLD_KEY", service.key)
    import words  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

    module: Any = sys.modules["words"]
    assert module is words  # pyright: ignore[reportUnknownMemberType]
    told: list[str] = []

    def say(*said: object) -> None:
        told.append(" ".join(map(str, said)))

    with worker(module.app, service.url, service.key):
        exec(BLOCKS[1], {"print": say})
    assert told == ["completed {'total': 10}"]
    tests: dict[str, Any] = {"measure": module.measure, "app": module.app, "words": module.words}
    exec(BLOCKS[2], tests)
    tests["test_a_word_is_measured"]()
