"""A plan of cubed as a file: what each of its operations does with each chunk. It lies in the work directory, beside the
chunks, under the signature of the computation: the same script finds it again, another one does not."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import re
import types
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from ..errors import BadRequest, ContractViolation

RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,99}\Z")
# Deep enough for functions that were fused, and an end for whatever refers to itself.
DEEPEST = 60


@dataclass(frozen=True)
class Op:
    name: str
    # The stage's name: as on the heat map.
    stage: str
    tasks: int
    after: Sequence[str]


def read_plan(url: str, sha256: str) -> dict[str, Any]:
    """What a worker runs: the code in it is trusted, because only those who may write beside the chunks could put it there."""
    fs, path = _fs(url)
    raw: bytes = fs.cat_file(path)
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise ContractViolation(f"the plan {url} is not the one that this job was submitted with")
    return cast("dict[str, Any]", importlib.import_module("pickle").loads(raw))


def write_plan(
    folder: str, signature: str, ops: Mapping[str, Any], allowed_mem: int, targets: Sequence[str]
) -> tuple[str, str]:
    """Its address and its digest; the one that is there already, if there is one."""
    pickle = importlib.import_module("cloudpickle")
    fs, root = _fs(folder)
    fs.makedirs(root, exist_ok=True)
    url, path = f"{folder}/plan-{signature}.pickle", f"{root}/plan-{signature}.pickle"
    if not fs.exists(path):
        _refuse_other(fs, root, signature, targets)
        whole = {
            # Another file, another job: one that was removed with its chunks is not taken for one that is done.
            "made": uuid.uuid4().hex,
            "allowed_mem": allowed_mem,
            "ops": {name: pickle.dumps(one) for name, one in ops.items()},
        }
        fs.pipe_file(f"{root}/plan-{signature}.json", json.dumps(sorted(targets)).encode())
        _put_once(fs, path, pickle.dumps(whole))
    return url, hashlib.sha256(fs.cat_file(path)).hexdigest()


def _put_once(fs: Any, path: str, raw: bytes) -> None:
    """The script that comes second takes what is there: two scripts that start together are one computation."""
    try:
        if hasattr(fs, "local_file"):
            _put_local(path, raw)
        else:
            fs.pipe_file(path, raw, mode="create")
    except FileExistsError:
        return


def _put_local(path: str, raw: bytes) -> None:
    import os

    draft = f"{path}.{uuid.uuid4().hex}"
    with open(draft, "wb") as out:
        out.write(raw)
        out.flush()
        os.fsync(out.fileno())
    try:
        # Whole or not at all, and never over another.
        os.link(draft, path)
    finally:
        os.unlink(draft)


def _refuse_other(fs: Any, root: str, signature: str, targets: Sequence[str]) -> None:
    """Arrays of another computation in the same places would be read as if they were this one's."""
    for path in fs.glob(f"{root}/plan-*.json"):
        if path.endswith(f"plan-{signature}.json"):
            continue
        taken = sorted(set(json.loads(fs.cat_file(path))) & set(targets))
        if taken:
            words = (
                f"the run in {root} has computed something else, which has its arrays in the same places ({taken[0]})"
            )
            raise BadRequest(words, hint="give the run another name, or remove that folder to begin anew")


def _fs(url: str) -> tuple[Any, str]:
    fs, path = importlib.import_module("fsspec.core").url_to_fs(url)
    return fs, str(path).rstrip("/")


def ops_of(dag: Any) -> tuple[list[Op], dict[str, Any]]:
    """The operations that are to run, in an order in which they may, and what each of them does."""
    networkx = importlib.import_module("networkx")
    visit_nodes = importlib.import_module("cubed.runtime.pipeline").visit_nodes
    found: dict[str, Any] = dict(visit_nodes(dag))
    work = {
        name: (node["pipeline"].function, list(node["pipeline"].mappable), node["pipeline"].config)
        for name, node in found.items()
    }
    work = {name: one for name, one in work.items() if one[1]}
    above = {name: {one for one in networkx.ancestors(dag, name) if one in work} for name in work}
    stages = {name: stage_name(place, name, found[name]) for place, name in enumerate(work)}
    ops: list[Op] = []
    for name in work:
        direct = above[name] - {far for near in above[name] for far in above[near]}
        ops.append(Op(name, stages[name], len(work[name][1]), sorted(stages[one] for one in direct)))
    return ops, work


def stage_name(place: int, name: str, node: Mapping[str, Any]) -> str:
    """`s03_op_012_mean`: the number keeps two alike apart."""
    words = f"{name}_{node.get('func_name') or ''}".lower()
    return f"s{place:02}_{re.sub('[^a-z0-9]+', '_', words)}"[:63].rstrip("_")


def targets_of(dag: Any, names: Sequence[str]) -> list[str]:
    """Where arrays are written."""
    found: list[str] = []
    for name in names:
        for array in dag.successors(name):
            target = dag.nodes[array].get("target")
            if hasattr(target, "store") and hasattr(target, "create"):
                found.append(f"{target.store}|{getattr(target, 'path', None) or ''}")
    return found


def signature_of(dag: Any) -> str:
    """Of what is computed, not of the objects that say so: shapes, places, constants and the code of functions. The same
    script gives the same on every start."""
    networkx = importlib.import_module("networkx")
    digest = hashlib.sha256()
    for name in networkx.lexicographical_topological_sort(dag):
        node = dag.nodes[name]
        told = [name, node.get("op_name"), node.get("func_name"), sorted(str(one) for one in dag.predecessors(name))]
        digest.update(json.dumps(told, default=str).encode())
        if node.get("pipeline") is not None:
            pipeline = node["pipeline"]
            for part in (pipeline.function, pipeline.config):
                _digest(part, digest, 0)
            digest.update(str(node["primitive_op"].num_tasks).encode())
        elif node.get("target") is not None:
            _digest(node["target"], digest, 0)
    return digest.hexdigest()[:24]


def _digest(value: Any, digest: Any, depth: int) -> None:
    digest.update(type(value).__qualname__.encode())
    if depth > DEEPEST or value is None:
        return
    if isinstance(value, (str, int, float, bool, complex, bytes)):
        digest.update(repr(value).encode())
    elif isinstance(value, partial):
        for part in (value.func, value.args, value.keywords):
            _digest(part, digest, depth + 1)
    elif isinstance(value, types.FunctionType):
        _function(value, digest, depth)
    elif isinstance(value, types.CodeType):
        digest.update(value.co_code)
        for part in (value.co_consts, value.co_names):
            _digest(part, digest, depth + 1)
    elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
        digest.update(getattr(value, "__qualname__", value.__name__).encode())
    elif isinstance(value, Mapping):
        given = cast("Mapping[Any, Any]", value)
        for key in sorted(given, key=str):
            digest.update(str(key).encode())
            _digest(given[key], digest, depth + 1)
    elif isinstance(value, (list, tuple)):
        for one in cast("Sequence[Any]", value):
            _digest(one, digest, depth + 1)
    elif isinstance(value, (set, frozenset)):
        digest.update(",".join(sorted(map(str, cast("set[Any]", value)))).encode())
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        digest.update(f"{value.dtype}{getattr(value, 'shape', '')}".encode() + value.tobytes())
    elif dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            _digest(getattr(value, one.name), digest, depth + 1)
    elif callable(value) and hasattr(value, "__name__"):
        # What is not written in Python: by its name.
        digest.update(f"{getattr(value, '__module__', '')}.{value.__name__}".encode())
    elif type(value).__module__.startswith("numpy"):
        digest.update(str(value).encode())
    elif type(value).__module__.startswith("zarr"):
        # An array that is there: by its place, whatever is in it.
        digest.update(
            f"{getattr(value, 'store', '')}{getattr(value, 'path', '')}{getattr(value, 'shape', '')}".encode()
        )
    else:
        _digest(
            {key: one for key, one in getattr(value, "__dict__", {}).items() if not key.startswith("_")},
            digest,
            depth + 1,
        )


def _function(value: types.FunctionType, digest: Any, depth: int) -> None:
    digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    _digest(value.__code__, digest, depth + 1)
    _digest(value.__defaults__, digest, depth + 1)
    _digest(value.__kwdefaults__, digest, depth + 1)
    for cell in value.__closure__ or ():
        try:
            _digest(cell.cell_contents, digest, depth + 1)
        except ValueError:
            continue
