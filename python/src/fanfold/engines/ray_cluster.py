"""Handlers on a Ray cluster: `fanfold-worker module:app --executor ray://head:10001`. One attempt is one Ray task that Ray
never repeats; as many are under way as there are slots. Claims, leases, retries and files stay with the worker: whatever
the cluster loses is an attempt that crashed, and Fanfold decides what comes of it."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import logging
import math
import os
import queue
import sys
import threading
import time
import uuid
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ..classify import Failure, Verdict, classify, failure_of
from ..errors import DeclarationError, SettingsError, Unavailable
from ..problems import Problem, quoted
from ..redaction import Redaction
from ..worker.children import told_error_of
from ..worker.held import Held
from ..worker.outcome import LARGEST_RESULT, End, clean
from .far_files import Relay
from .ray_mailbox import Mailbox
from .ray_task import run_attempt

if TYPE_CHECKING:
    from ..worker.app import Registry
    from ..worker.engine import Engine

POLL_S = 5.0
UNHEARD_S = 3.0
# A mailbox whose node is lost begins anew on another; a cluster that has none for so long is gone.
GONE_S = 90.0
SETTLERS = 4
LOCAL_STORE = 256 * 1024 * 1024
WAITS = "waits for a place on the Ray cluster"

log = logging.getLogger("fanfold.worker")

# Ray's words for what Fanfold calls a crash: by class, the first that fits.
CRASHES = (
    (
        "OutOfMemoryError",
        "out_of_memory",
        "the handler's process on the Ray cluster used too much memory, and was killed",
    ),
    ("WorkerCrashedError", "cluster_worker_lost", "the handler's process on the Ray cluster ended before its task did"),
    ("NodeDiedError", "node_lost", "the node of the Ray cluster that ran the task is gone"),
    ("LocalRayletDiedError", "node_lost", "the node of the Ray cluster that ran the task is gone"),
    ("ObjectLostError", "node_lost", "what the task returned was lost with a node of the Ray cluster"),
    ("TaskCancelledError", "cluster_cancelled", "the task was cancelled on the Ray cluster"),
)


class ClusterCrash(Exception):
    """The cluster lost a task."""


def serve_on_cluster(registry: Registry) -> None:
    """Every handler of the app runs there; raises DeclarationError with those that cannot."""
    problems: list[Problem] = []
    for one in registry.served.values():
        function = one.handler.function
        where = getattr(function, "__module__", "__main__")
        if "<" in getattr(function, "__qualname__", "<") or where == "__main__":
            fix = "Move it to the top of a module that is installed there, too: the cluster imports it by its name."
            problems.append(
                Problem(
                    f"handler {quoted(one.name)}", "must be a function that a module names, to run on a cluster", fix
                )
            )
        one.kind = "cluster"
    if problems:
        words = "A declaration is wrong" if len(problems) == 1 else f"{len(problems)} declarations are wrong"
        raise DeclarationError(words, problems=problems)


def load_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise SettingsError(
            "These settings are not right",
            problems=[Problem("--executor", "needs Ray, which is not installed", 'pip install "fanfold[ray]"')],
        ) from None


class Sent:
    """A task that is on the cluster."""

    def __init__(self, token: int, held: Held) -> None:
        self.token, self.held = token, held
        self.ref: Any = None
        self.heard = 0
        self.where: dict[str, Any] = {}


class RayCluster:
    def __init__(self, engine: Engine, place: str, app: str | None, log_level: str) -> None:
        self._engine, self._app, self._log_level = engine, app, log_level
        self._ray = load_ray()
        self._sent: dict[int, Sent] = {}
        self._tokens = itertools.count(1)
        self._heard = threading.Condition()
        self._orders: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        self._ends: queue.SimpleQueue[tuple[Sent, Future[Any]] | None] = queue.SimpleQueue()
        self._closed = False
        self._connect(place)
        self._relay = Relay(engine.blocking)
        engine.desk.more.update(self._relay.verbs)
        targets = [self._ordering, self._reading, *[self._settling] * SETTLERS]
        self._threads = [threading.Thread(target=one, name="fanfold-ray", daemon=True) for one in targets]
        for one in self._threads:
            one.start()

    def _connect(self, place: str) -> None:
        ray = self._ray
        self._own = not ray.is_initialized()
        if self._own:
            with _without_key():
                try:
                    ray.init(**self._init_options(place))
                except Exception as error:
                    words = f"the Ray cluster {place} cannot be reached: {str(error).strip().splitlines()[0]}"
                    hint = "see that it runs there, and with the same versions of Ray and Python as here"
                    raise Unavailable(words, hint=hint) from error
        affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        near = affinity(node_id=ray.get_runtime_context().get_node_id(), soft=True)
        slots = self._engine.options.slots
        actor = ray.remote(num_cpus=0, max_restarts=-1, max_concurrency=max(1000, 4 * slots))(Mailbox)
        self._mailbox = actor.options(scheduling_strategy=near).remote()
        self._run = ray.remote(max_retries=0, retry_exceptions=False)(run_attempt)

    def _init_options(self, place: str) -> dict[str, Any]:
        given: dict[str, Any] = {"log_to_driver": False, "namespace": f"fanfold-{uuid.uuid4().hex}"}
        if self._engine.registry.app.ray_env is not None:
            given["runtime_env"] = dict(self._engine.registry.app.ray_env)
        if place.startswith("ray://"):
            return {**given, "address": place}
        given["configure_logging"] = False
        address = place.removeprefix("ray:")
        if address == "local":
            # Nothing is told to the makers of Ray about a cluster that a worker starts.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            slots = self._engine.options.slots
            return {
                **given,
                "address": "local",
                "num_cpus": slots,
                "include_dashboard": False,
                "object_store_memory": LOCAL_STORE,
            }
        return {**given, "address": address}

    # From any thread; nothing here waits for the cluster.

    def start(self, held: Held) -> None:
        ctx: Any = held.ctx
        # Its time begins when the cluster has a place for it; until then everybody can see what it waits for.
        held.deadline = math.inf
        ctx._progress = {"share": 0, "message": WAITS}
        sent = Sent(next(self._tokens), held)
        self._sent[sent.token] = sent
        ctx._on_abort.append(lambda: self._orders.put(("cancel", sent)))
        self._orders.put(("send", sent))

    def close(self) -> None:
        self._closed = True
        self._orders.put(None)
        for _ in range(SETTLERS):
            self._ends.put(None)
        with contextlib.suppress(Exception):
            self._ray.kill(self._mailbox)
        for one in self._threads:
            one.join(2)
        if self._own:
            with contextlib.suppress(Exception):
                self._ray.shutdown()
        self._relay.close()

    # In a thread: orders to the cluster, one after the other.

    def _ordering(self) -> None:
        while (order := self._orders.get()) is not None:
            what, sent = order
            try:
                if what == "send":
                    self._send(sent)
                elif what == "answer":
                    token, number, answer = sent
                    self._mailbox.answer.remote(token, number, answer)
                elif sent.ref is not None:
                    self._ray.cancel(sent.ref, force=True)
            except Exception as error:
                if what == "send":
                    failed: Future[Any] = Future()
                    failed.set_exception(error)
                    self._ends.put((sent, failed))
                else:
                    log.warning("the Ray cluster did not take an order", extra={"why": str(error)[:500]})

    def _send(self, sent: Sent) -> None:
        held = sent.held
        assert held.ctx is not None
        if held.ctx.cancelled():
            failed: Future[Any] = Future()
            failed.set_exception(ClusterCrash("it was cancelled before it was sent"))
            self._ends.put((sent, failed))
            return
        handler = held.served.handler
        told = {
            "task": dict(held.task),
            "stage": dict(held.stage),
            "module": handler.function.__module__,
            "name": handler.function.__qualname__,
            "app": self._app,
            "path": [one for one in sys.path if one] + [os.getcwd()],
            "log_level": self._log_level,
            "worker_id": held.life.worker_id,
            "dask_address": self._engine.options.dask_address,
        }
        name = f"{handler.name} {held.task_id} attempt {held.task['attempt']}"
        options = {"max_retries": 0, "retry_exceptions": False, "name": name, **(handler.ray or {})}
        sent.ref = self._run.options(**options).remote(self._mailbox, sent.token, told)
        future: Future[Any] = sent.ref.future()
        future.add_done_callback(lambda done: self._ends.put((sent, done)))

    # In a thread: what tasks say.

    def _reading(self) -> None:
        silent_since: float | None = None
        while not self._closed:
            try:
                messages = self._ray.get(self._mailbox.take.remote(POLL_S), timeout=POLL_S + 60)
                silent_since = None
            except Exception as error:
                if self._closed:
                    return
                now = time.monotonic()
                silent_since = now if silent_since is None else silent_since
                log.warning("the Ray cluster does not answer", extra={"why": str(error).splitlines()[0][:500]})
                if now - silent_since > GONE_S:
                    words = "the Ray cluster is gone, and this worker has nowhere to run its tasks"
                    self._engine.failure = Unavailable(words)
                    self._engine.hurry()
                    return
                time.sleep(1)
                continue
            for token, kind, body in messages:
                sent = self._sent.get(token)
                if sent is not None:
                    self._said(sent, kind, body)

    def _said(self, sent: Sent, kind: str, body: Any) -> None:
        held, ctx = sent.held, sent.held.ctx
        private: Any = ctx
        if kind == "batch":
            with self._heard:
                sent.heard += 1
                self._heard.notify_all()
        elif kind == "line" and ctx is not None:
            self._engine.task_line(ctx, *body)
        elif kind == "progress":
            if body != private._progress:
                private._progress_at = time.monotonic()
            private._progress = body
        elif kind == "started":
            sent.where = body
            if private._progress is not None and private._progress.get("message") == WAITS:
                private._progress = None
            held.begin()
        elif kind == "ask":
            number, verb, given = body
            try:
                future = self._engine.desk.begin(held, verb, given)
            except Exception as error:
                future = Future[Any]()
                future.set_exception(error)
            future.add_done_callback(lambda done: self._answer(sent, number, verb, done))

    def _answer(self, sent: Sent, number: int, verb: str, done: Future[Any]) -> None:
        error = done.exception()
        if error is not None:
            self._orders.put(("answer", (sent.token, number, {"error": told_error_of(error)})))
            return
        value = done.result()
        if verb == "secret":
            # What the cluster says of the attempt is cleaned here as well.
            private: Any = sent.held.ctx
            private._redaction = private._redaction or Redaction()
            private._redaction.add(value)
        self._orders.put(("answer", (sent.token, number, {"value": value})))

    # In threads: ends of tasks.

    def _settling(self) -> None:
        while (ended := self._ends.get()) is not None:
            sent, done = ended
            end, spill = self._end(sent, done), None
            self._sent.pop(sent.token, None)
            if end.result is not None and len(end.result) >= LARGEST_RESULT and not sent.held.ended:
                end, spill = self._engine.desk.spill(sent.held, end)
            following = self._engine.runner.ended(sent.held, end, None, spill)
            assert following is None

    def _end(self, sent: Sent, done: Future[Any]) -> End:
        ctx: Any = sent.held.ctx
        error = done.exception()
        if error is not None:
            return End(failure=clean(ctx, self._failure(sent, error)))
        told = done.result()
        with self._heard:
            # What it logged on the way is before its end, even if the end was quicker.
            self._heard.wait_for(lambda: sent.heard >= told["sent"], UNHEARD_S)
        for kind, body in told["rest"]:
            self._said(sent, kind, body)
        # By the clock of the node that ran it: neither the queue before it nor the way back counts.
        sent.held.started_at = time.monotonic() - told["ran_s"]
        ctx._delivered, ctx._effects, ctx._uploaded = told["delivered"], told["effects"], told["uploaded"]
        found = told["failure"]
        if found is None:
            return End(told["result"], told["next_stage_params"])
        failure = Failure(
            found["category"], found["code"], found["message"], found.get("retry_after_s"), found.get("detail", {})
        )
        return End(failure=clean(ctx, failure))

    def _failure(self, sent: Sent, error: BaseException) -> Failure:
        exceptions = self._ray.exceptions
        for name, code, words in CRASHES:
            if isinstance(error, getattr(exceptions, name)):
                crash = ClusterCrash(words)
                detail = {"process": sent.where, "ray": str(error)[:2000]}
                failure = failure_of(crash, Verdict("crash", code, detail=detail))
                failure.detail.pop("stack", None)
                return failure
        if isinstance(error, exceptions.TaskUnschedulableError):
            return failure_of(error, Verdict("permanent", "unschedulable"))
        if isinstance(error, exceptions.RayError):
            # Raised before our own code ran there: a missing package, an environment that could not be made.
            return failure_of(error, Verdict("transient", "cluster_unable"))
        return classify(error)


@contextlib.contextmanager
def _without_key() -> Any:
    """A cluster that is started here inherits the environment; the key is not for handlers."""
    key = os.environ.pop("FANFOLD_KEY", None)
    try:
        yield
    finally:
        if key is not None:
            os.environ["FANFOLD_KEY"] = key
