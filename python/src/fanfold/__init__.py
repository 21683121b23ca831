"""Fanfold for Python: declare jobs and handlers, run a worker, submit and follow jobs. docs/python.md begins with an
example."""

from ._async.client import AsyncClient
from ._async.context import AsyncContext, AsyncPrevious
from ._sync.client import Client
from ._sync.context import Context, Item, Predecessor, Previous
from .context import Asset, JobFacts
from .declare.handlers import Handler, handler
from .declare.jobs import Job, Plan, Stage, count, each, job, plan, stage
from .errors import (
    BadRequest,
    BeyondLimit,
    Cancelled,
    Conflict,
    Connection,
    ContractViolation,
    DeclarationError,
    FanfoldError,
    Forbidden,
    NotAllowedNow,
    NotFound,
    OverLimit,
    ParameterError,
    Permanent,
    ServiceError,
    SettingsError,
    StaleWorker,
    StillRunning,
    Throttled,
    TooLarge,
    Transient,
    Unauthenticated,
    Unavailable,
    ValueProblems,
)
from .problems import Problem
from .version import VERSION as __version__
from .worker.app import App

__all__ = [
    "App",
    "Asset",
    "AsyncClient",
    "AsyncContext",
    "AsyncPrevious",
    "BadRequest",
    "BeyondLimit",
    "Cancelled",
    "Client",
    "Conflict",
    "Connection",
    "Context",
    "ContractViolation",
    "DeclarationError",
    "FanfoldError",
    "Forbidden",
    "Handler",
    "Item",
    "Job",
    "JobFacts",
    "NotAllowedNow",
    "NotFound",
    "OverLimit",
    "ParameterError",
    "Permanent",
    "Plan",
    "Predecessor",
    "Previous",
    "Problem",
    "ServiceError",
    "SettingsError",
    "Stage",
    "StaleWorker",
    "StillRunning",
    "Throttled",
    "TooLarge",
    "Transient",
    "Unauthenticated",
    "Unavailable",
    "ValueProblems",
    "__version__",
    "count",
    "each",
    "handler",
    "job",
    "plan",
    "stage",
]
