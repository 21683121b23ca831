"""Where a task's secrets come from: a function of the operator's (a vault), the environment, files. Asked each time,
for the task's own tenant, so that a changed secret counts at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import Permanent, Transient
from .problems import quoted

MOST_BYTES = 64 * 1024
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_.-]{0,61}[a-z0-9])?\Z")
# Only where the spelling leaves no doubt whose it is: FANFOLD_SECRET_A_B__C could be another tenant's.
_SURE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*\Z")
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}\Z")


def secret_name(asked: object) -> str:
    """ "stripe_key" of "stripe_key" or "secret://stripe_key"."""
    name = asked.removeprefix("secret://") if isinstance(asked, str) else ""
    if _NAME.match(name):
        return name
    rule = "up to 63 lower-case letters, digits, _, - and ., with a letter or digit at both ends"
    raise Permanent(f"{quoted(asked)} is not the name of a secret: {rule}", code="bad_secret_name")


@dataclass
class Secrets:
    ask: Callable[[str, str], str | None] | None = None
    folder: Path | None = None
    environment: Mapping[str, str] | None = None

    def tell(self, tenant_id: str, asked: str) -> str:
        name = secret_name(asked)
        for source in (self._from_function, self._from_environment, self._from_file):
            value = source(tenant_id, name)
            if value is not None:
                return value
        raise self._missing(tenant_id, name)

    def _from_function(self, tenant_id: str, name: str) -> str | None:
        if self.ask is None:
            return None
        try:
            return self.ask(tenant_id, name)
        except Exception:
            # What it says is not repeated: it may hold the address or the token of the vault.
            raise Transient(f'the secret "{name}" could not be asked for now', code="secret_unavailable") from None

    def _from_environment(self, tenant_id: str, name: str) -> str | None:
        variable = _variable(tenant_id, name)
        env = os.environ if self.environment is None else self.environment
        return (env.get(variable) or None) if variable is not None else None

    def _from_file(self, tenant_id: str, name: str) -> str | None:
        # Both are checked names: neither can lead out of the folder.
        if self.folder is None or not _TENANT.match(tenant_id):
            return None
        file = self.folder / tenant_id / name
        try:
            if file.stat().st_size > MOST_BYTES:
                raise Permanent(f'the secret "{name}" has more than {MOST_BYTES} bytes', code="bad_secret")
            # An editor ends the last line; a secret does not.
            return re.sub(r"\r?\n\Z", "", file.read_text())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            words = f'the secret "{name}" could not be read now ({error.errno})'
            raise Transient(words, code="secret_unavailable") from None

    def _missing(self, tenant_id: str, name: str) -> Permanent:
        variable = _variable(tenant_id, name)
        places = ["the worker's secrets function"] if self.ask is not None else []
        places.append(
            "no variable (a name with - or . or __ is looked for in files only)"
            if variable is None
            else f"the variable {variable}"
        )
        places.append(
            "no file (FANFOLD_SECRETS_DIR is not set)"
            if self.folder is None
            else f"the file {tenant_id}/{name} in FANFOLD_SECRETS_DIR"
        )
        where = ", ".join(places)
        return Permanent(
            f'there is no secret "{name}" for tenant "{tenant_id}"; looked for: {where}', code="secret_missing"
        )


def _variable(tenant_id: str, name: str) -> str | None:
    if not _SURE.match(tenant_id) or not _SURE.match(name):
        return None
    return f"FANFOLD_SECRET_{tenant_id}__{name}".upper()
