"""The environment, read once and strictly: everything that is wrong is told together, with what was perhaps meant."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .errors import SettingsError
from .problems import Problem, quoted, suggestion

T = TypeVar("T")

KEY = re.compile(r"[\x21-\x7e]{1,8192}\Z")
LEVELS = ("debug", "info", "warning", "error")

# FANFOLD_SECRET_<TENANT>__<NAME>: secrets of tenants, told to their tasks by name.
TENANT_SECRET = re.compile(r"FANFOLD_SECRET_[A-Z0-9_]+?__[A-Z0-9_]+\Z")

# Settings of the server and of the TypeScript worker, which may stand in the same environment.
OTHERS = frozenset(
    f"FANFOLD_{name}"
    for name in [
        "AZURE_ENDPOINT",
        "CATALOG",
        "CORS_ORIGINS",
        "CUBED_MEMORY_MB",
        "CUBED_WORK_DIR",
        "DATA_DIR",
        "DATABASE_URL",
        "DEBUG",
        "FAULTS",
        "HOST",
        "ISOLATION_USER",
        "JWT_ALGORITHMS",
        "JWT_AUDIENCE",
        "JWT_ISSUER",
        "JWT_JWKS_FILE",
        "JWT_JWKS_URL",
        "JWT_SCOPE_CLAIM",
        "JWT_SCOPE_PREFIX",
        "JWT_TENANT_CLAIM",
        "LEFTOVERS_AFTER_H",
        "LISTEN_URL",
        "METRICS_TOKEN",
        "OUTBOUND_ALLOW_HOSTS",
        "OUTBOUND_ALLOW_HTTP",
        "OUTBOUND_ALLOW_NAMES",
        "OUTBOUND_ALLOW_PRIVATE",
        "OUTBOUND_CA_FILE",
        "OUTBOUND_PORTS",
        "OUTBOUND_RESOLVER",
        "PORT",
        "PREPARE",
        "PUBLIC_URL",
        "RASTER_ENGINE",
        "RETRY",
        "S3_ENDPOINT",
        "S3_REGION",
        "SECRET_KEY",
        "SIGNED_FOR_H",
        "SOURCE_CACHE_MB",
        "SOURCE_MAX_MB",
        "STORAGE_DIR",
        "TENANT",
        "TRUST_PROXY",
        "WAIT_FOR_DATABASE_S",
        "ZONE_BRONZE",
        "ZONE_GOLD",
        "ZONE_SILVER",
    ]
)


@dataclass(frozen=True)
class Settings:
    url: str | None = None
    key: str | None = None
    slots: int = 8
    processes: int = 0
    lease_s: int = 30
    grace_s: float = 30
    memory_mb: int | None = None
    scratch_dir: Path | None = None
    secrets_dir: Path | None = None
    log_level: str = "info"
    database_url: str | None = None
    dask_address: str | None = None
    executor: str | None = None


class _Wrong(Exception):
    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,12}", text) or not least <= int(text) <= most:
            raise _Wrong(
                f"{quoted(text)} is not a whole number of {least} to {most}", f"Give e.g. {max(least, min(8, most))}."
            )
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 86_400:
        raise _Wrong(f"{quoted(text)} is not a number of seconds up to 86400", "Give e.g. 30.")
    return value


def read_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _Wrong(f"{quoted(text)} is not an http(s) address", "Give e.g. https://jobs.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _Wrong("has more than a place in it", "Leave user, password, ? and # out; the key goes into FANFOLD_KEY.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _key(text: str) -> str:
    if not KEY.match(text):
        # Never shown: it may be a key with a line break at its end.
        raise _Wrong("has characters that no key has", "Give the key as it was shown: ff_…")
    return text


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise _Wrong(f"{quoted(text)} is not a folder", "Give the path of a folder that exists.")
    return path


def _level(text: str) -> str:
    level = {"warn": "warning"}.get(text.lower(), text.lower())
    if level not in LEVELS:
        raise _Wrong(f"{quoted(text)} is not a level", suggestion(text, LEVELS))
    return level


def _text(text: str) -> str:
    return text


def _dask(text: str) -> str:
    parts = urlsplit(text)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tcp", "tls", "ws", "wss") or not parts.hostname or port is None:
        raise _Wrong(f"{quoted(text)} is not the address of a Dask scheduler", "Give e.g. tcp://dask-scheduler:8786")
    return text


EXECUTOR = re.compile(r"ray:(auto|local|(//)?[A-Za-z0-9._\-]+:[0-9]{1,5}|(//)?\[[0-9a-fA-F:]+\]:[0-9]{1,5})\Z")


def _executor(text: str) -> str:
    if not EXECUTOR.match(text):
        fix = "Give ray://head:10001, ray:auto for the cluster of this machine, or ray:local to start one here."
        raise _Wrong(f"{quoted(text)} is not an executor", fix)
    return text


NAMES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "url": ("FANFOLD_URL", read_url),
    "key": ("FANFOLD_KEY", _key),
    "slots": ("FANFOLD_SLOTS", _whole(1, 10_000)),
    "processes": ("FANFOLD_PROCESSES", _whole(0, 1_000)),
    "lease_s": ("FANFOLD_LEASE_S", _whole(5, 3_600)),
    "grace_s": ("FANFOLD_GRACE_S", _seconds),
    "memory_mb": ("FANFOLD_WORKER_MEMORY_MB", _whole(64, 100_000_000)),
    "scratch_dir": ("FANFOLD_SCRATCH_DIR", _folder),
    "secrets_dir": ("FANFOLD_SECRETS_DIR", _folder),
    "log_level": ("FANFOLD_LOG_LEVEL", _level),
    "database_url": ("DATABASE_URL", _text),
    "dask_address": ("FANFOLD_DASK_ADDRESS", _dask),
    "executor": ("FANFOLD_EXECUTOR", _executor),
}


def read_settings(environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """`given` comes before the environment; None is not given."""
    env = os.environ if environment is None else environment
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for field, (name, read) in NAMES.items():
        told = given.get(field)
        text = str(told) if told is not None else env.get(name, "")
        if text == "":
            continue
        try:
            values[field] = read(text)
        except _Wrong as wrong:
            path = name if told is None else f"--{field.replace('_', '-')}"
            problems.append(Problem(path, wrong.problem, wrong.fix))
    problems += _unknown(env)
    if problems:
        raise SettingsError("These settings are not right", problems=problems)
    return Settings(**values)


def _unknown(env: Mapping[str, str]) -> list[Problem]:
    """A misspelt name would otherwise be a setting that silently does nothing."""
    own = [name for name, _ in NAMES.values()]
    found = [
        name
        for name in sorted(env)
        if name.startswith("FANFOLD_") and name not in own and name not in OTHERS and not TENANT_SECRET.match(name)
    ]
    return [
        Problem(name, "there is no such setting", suggestion(name, own))
        for name in found
        if not name.startswith(("FANFOLD_TEST_", "FANFOLD_BENCH_"))
        and name not in ("FANFOLD_SHOTS", "FANFOLD_WRITE_DOCS", "FANFOLD_EFFECTS")
    ]
