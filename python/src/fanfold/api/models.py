"""What calls send and hear, as the OpenAPI document says: plain dicts with types for editors.

Made by scripts/generate.py: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Action(TypedDict):
    verb: str
    job_id: NotRequired[str]
    stage: NotRequired[str]
    task_id: NotRequired[str]
    task_type: NotRequired[str]
    signature: NotRequired[str]
    group_id: NotRequired[str]
    name: NotRequired[str]
    endpoint_id: NotRequired[str]
    run_at: NotRequired[str]
    reason: NotRequired[str]
    memory: NotRequired[float]
    request_id: NotRequired[str]


class Alert(TypedDict):
    event_id: int
    at: str
    alert: str
    reason: str | None
    tenant_id: str
    job_id: str | None
    stage_id: int | None
    actor: str
    data: dict[str, Any] | None


class Attempt(TypedDict):
    attempt: int
    epoch: int
    outcome: Literal['failed', 'lost', 'released', 'refused', 'superseded']
    category: str | None
    code: str | None
    message: str | None
    signature: str | None
    detail: Any
    duration_ms: int | None
    worker_id: str | None
    worker: WorkerPlace | None
    started_at: str | None
    ended_at: str
    retry_at: str | None
    max_attempts: int | None
    gives_up_at: str | None


class Blueprint(TypedDict):
    type: str
    source: Literal['registered', 'saved']
    description: str | None
    parameters: dict[str, Any] | None
    identity: list[str] | None
    deadline_s: int | None
    stages: list[BlueprintStagesItem]
    version: int | None
    saved_at: str | None
    saved_by: str | None
    declaration: dict[str, Any] | None


class BlueprintStagesItem(TypedDict):
    number: int
    name: str
    task: str
    parallelism: str
    after: list[int]
    importance: str


class BlueprintDeclaration(TypedDict):
    description: NotRequired[Any]
    parameters: NotRequired[Any]
    identity: NotRequired[Any]
    deadline_s: NotRequired[Any]
    stages: NotRequired[Any]


class BlueprintToValidate(TypedDict):
    description: NotRequired[Any]
    parameters: NotRequired[Any]
    identity: NotRequired[Any]
    deadline_s: NotRequired[Any]
    stages: NotRequired[Any]
    type: NotRequired[Any]


class Decided(TypedDict):
    job_id: str
    stage: str
    status: NotRequired[Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']]
    decision: DecidedDecision | None
    dry_run: bool
    changed: bool


class DecidedDecision(TypedDict):
    approved: bool
    by: str
    why: str | None
    at: str


class Deed(TypedDict):
    event_id: int
    at: str
    kind: str
    actor: str
    key_id: str | None
    key_name: str | None
    job_id: str | None
    job_type: str | None
    stage_id: int | None
    stage: str | None
    reason: str | None
    data: dict[str, Any] | None


class Deliverable(TypedDict):
    name: str
    stage: str
    count: float
    location: str | None
    locations: list[str] | None
    usable: bool
    tasks: int
    at_least: bool


class Dependency(TypedDict):
    job_id: str
    job_type: str | None
    status: str | None
    needs: Literal['success', 'completed', 'end']
    satisfied_at: str | None


class ErrorGroup(TypedDict):
    signature: str
    category: str | None
    code: str | None
    message: str | None
    sample: str | None
    tasks: int
    quarantined: bool
    stages: list[str]
    first_at: str
    last_at: str
    task_ids: list[str]
    action: Action
    retry: str


class Event(TypedDict):
    event_id: int
    at: str
    kind: str
    actor: str
    stage_id: int | None
    reason: str | None
    data: dict[str, Any] | None


Footprints = TypedDict(
    'Footprints',
    {
        'job_id': "str",
        'stage_id': "int",
        'stage': "str",
        'status': "Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']",
        'total': "int",
        'with_box': "int",
        'planned': "int",
        'unusable': "int",
        'unread': "int",
        'in_view': "int",
        'extent': "list[float] | None",
        'counts': "list[int]",
        'since': "str",
        'kind': "Literal['boxes', 'bins']",
        'scale': "float",
        'from': "int",
        'boxes': "FootprintsBoxes | None",
        'states': "str",
        'retried': "list[list[int]]",
        'bins': "FootprintsBins | None",
        'selected': "FootprintsSelected | None",
    },
)


class FootprintsBoxes(TypedDict):
    ordinal: list[float]
    west: list[float]
    south: list[float]
    east: list[float]
    north: list[float]


class FootprintsBins(TypedDict):
    grid: FootprintsBinsGrid
    column: list[int]
    row: list[int]
    counts: list[list[int]]
    selected: list[int]


class FootprintsBinsGrid(TypedDict):
    west: float
    south: float
    width: float
    height: float
    columns: int
    rows: int


class FootprintsSelected(TypedDict):
    count: int
    extent: list[float] | None


class GoneWorker(TypedDict):
    worker_id: str
    shared: bool
    status: Literal['stopped', 'lost']
    host: str | None
    pid: int | None
    version: str | None
    slots: int
    started_at: str
    heartbeat_at: str
    ended_at: str
    went_back: int


class Group(TypedDict):
    group_id: str
    name: str | None
    status: Literal['open', 'completed', 'partial_success', 'failed', 'cancelled']
    created_at: str
    created_by: str
    expected: int | None
    sealed_at: str | None
    sealed_by: str | None
    finished_at: str | None
    total: int
    open: int
    completed: int
    partial_success: int
    failed: int
    cancelled: int
    hint: str
    action: Action | None


class Job(TypedDict):
    job_id: str
    job_type: str
    run: int
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    priority: int
    labels: dict[str, str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: TaskError | None
    tenant_id: str
    parameters: dict[str, Any]
    metadata: dict[str, Any] | None
    updated_at: str
    correlation_id: str | None
    group_id: str | None
    waits_for: int
    depends_on: list[Dependency]
    deadline_at: str | None
    deadline_s: float | None
    run_at: str | None
    deadline_from: Literal['start', 'submit']
    deadline_left_s: float | None
    hint: str
    action: Action | None
    epoch: int
    resume_count: int
    paused_at: str | None
    paused_by: str | None
    pause_reason: str | None
    cancelled_by: str | None
    stage: int | None
    total_stages: int
    resumable: bool
    resume_from_stage: int | None
    resume_hint: str | None
    progress: Progress
    stage_results: dict[str, StageResult]
    outcomes: list[Outcome]
    deliverables: list[Deliverable]
    items_url: str | None
    now: str
    result: Any
    result_spill: dict[str, Any] | None
    stages: list[Stage]


class Layer(TypedDict):
    name: str
    title: str | None
    description: str | None
    version: int
    feature_count: int
    rejected_count: int
    mode: str | None
    extent: list[float] | None
    geometry_type: str | None
    srid: int | None
    time_column: str | None
    column_count: int
    job_id: str | None
    item_id: str | None
    collection: str | None
    release: dict[str, Any] | None
    created_at: str
    updated_at: str


class LayerStyle(TypedDict):
    kind: Literal['single', 'categories', 'steps']
    column: NotRequired[str | None]
    colour: str
    classes: NotRequired[list[LayerStyleClassesItem]]
    opacity: NotRequired[float]
    width: NotRequired[float]


class LayerStyleClassesItem(TypedDict):
    value: str | float | bool
    colour: str


class LineageLink(TypedDict):
    stage_id: int
    stage: str
    number: int
    task_type: str
    stage_status: str
    how: Literal['task', 'batch', 'all', 'plan', 'unplanned']
    tasks: int
    counts: LineageLinkCounts | None
    first: list[LineageLinkFirstItem]


class LineageLinkCounts(TypedDict):
    completed: int
    failed: int
    skipped: int
    open: NotRequired[int]
    cancelled: NotRequired[int]


class LineageLinkFirstItem(TypedDict):
    task_id: str
    ordinal: int
    index: str
    status: Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']
    attempt: int | None
    duration_ms: int | None
    finished_at: str | None


class ListedJob(TypedDict):
    job_id: str
    job_type: str
    run: int
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    priority: int
    labels: dict[str, str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: TaskError | None
    group_id: str | None
    correlation_id: str | None
    paused_at: str | None
    waits_for: int
    progress: ListedProgress | None


class ListedProgress(TypedDict):
    stages: int
    stages_ended: int
    stage: int | None
    stage_name: str | None
    approval: bool
    retrying: bool
    total: int
    completed: int
    failed: int
    skipped: int
    open_stages: list[ListedProgressOpenStagesItem]


class ListedProgressOpenStagesItem(TypedDict):
    stage_id: int
    total: int
    completed: int
    failed: int
    skipped: int


class LogLine(TypedDict):
    log_id: int
    at: str
    attempt: int
    level: Literal['debug', 'info', 'warn', 'error']
    message: str
    data: Any


class Outcome(TypedDict):
    stage: str
    number: int
    objective: str
    importance: Literal['critical', 'important', 'optional']
    status: Literal['succeeded', 'partly_succeeded', 'failed', 'skipped', 'cancelled', 'pending']
    total: int
    completed: int
    failed: int
    skipped: int
    error: TaskError | None
    action: Action | None
    recovery: str | None


PathStep = TypedDict(
    'PathStep',
    {
        'stage_id': "int",
        'stage': "str",
        'number': "int",
        'task_id': "str",
        'index': "str",
        'status': "Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']",
        'from': "int",
        'to': "int",
        'approval_ms': "int",
        'planning_ms': "int",
        'waiting_ms': "int",
        'retry_ms': "int",
        'lost_ms': "int",
        'running_ms': "int",
        'failures': "int",
        'median_ms': "int | None",
        'largest': "Literal['approval', 'planning', 'waiting', 'retry', 'lost', 'running']",
    },
)


class ProblemDetails(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    description: NotRequired[str]
    hint: NotRequired[str]
    problems: NotRequired[list[ProblemDetailsProblemsItem]]
    retry_after_s: NotRequired[float]


class ProblemDetailsProblemsItem(TypedDict):
    path: str
    problem: str
    fix: str


class Progress(TypedDict):
    fraction: float
    total: int
    completed: int
    failed: int
    skipped: int
    cancelled: int
    processing: int
    queued: int
    stages: int
    stages_ended: int


class Queue(TypedDict):
    task_type: str
    due: int
    later: int
    retrying: int
    running: int
    oldest_at: str | None
    oldest_job_id: str | None
    oldest_task_id: str | None
    counted_at: str
    paused: QueuePaused | None
    workers: int
    slots: int
    problem: QueueProblem | None
    per_minute: QueuePerMinute
    history: QueueHistory | None


class QueuePaused(TypedDict):
    at: str
    by: str
    reason: str | None


class QueueProblem(TypedDict):
    code: Literal['QUEUE_PAUSED', 'NO_WORKER_FOR_TYPE']
    reason: str
    action: Action
    command: str


class QueuePerMinute(TypedDict):
    completed: float
    failed: float


QueueHistory = TypedDict(
    'QueueHistory',
    {
        'from': "str",
        'step_s': "int",
        'completed': "list[int]",
        'failed': "list[int]",
        'queued': "list[int | None]",
        'running': "list[int | None]",
    },
)


class RecentTick(TypedDict):
    tick_at: str
    outcome: Literal['submitted', 'failed', 'missed']
    job_id: str | None
    missed: int
    by_hand: bool
    actor: str | None
    reason: str | None
    at: str
    job_status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled'] | None


class Recipe(TypedDict):
    data_type: str
    source: Literal['registered', 'saved']
    description: str | None
    accepts: dict[str, Any] | None
    parameters: dict[str, Any] | None
    approval: bool
    jobs: list[RecipeJobsItem]
    version: int | None
    saved_at: str | None
    saved_by: str | None
    declaration: dict[str, Any] | None


class RecipeJobsItem(TypedDict):
    number: int
    name: str
    job: str
    sequence: int
    after: list[int]
    importance: str


class RecipeDeclaration(TypedDict):
    description: NotRequired[Any]
    accepts: NotRequired[Any]
    parameters: NotRequired[Any]
    approval: NotRequired[Any]
    jobs: NotRequired[Any]


class Release(TypedDict):
    release_id: str
    dataset_id: str
    resource_id: str
    version_id: str
    ordinal: int
    revision: int
    data_type: str
    request_id: str
    status: str
    wants_approval: bool
    approval: Literal['pending_review', 'approved', 'rejected', 'revoked']
    clearance: Literal['uncleared', 'restricted', 'public']
    reviewer: str | None
    reason: str | None
    decided_at: str | None
    latest: bool
    created_by: str
    created_at: str
    updated_at: str


class Repaired(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    epoch: int
    resume_count: int
    from_stage: int
    again: int
    at_least: bool
    kept: int
    stages: list[RepairedStagesItem]
    dry_run: bool
    changed: bool


class RepairedStagesItem(TypedDict):
    number: int
    stage: str
    again: int
    at_most: int
    kept: int
    follows: bool


class Request(TypedDict):
    request_id: str
    dataset_id: str
    resource_id: str
    version_id: str
    run: int
    data_type: str
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    metadata: dict[str, Any]
    labels: dict[str, Any]
    priority: int
    correlation_id: str | None
    epoch: int
    resume_count: int
    error: dict[str, Any] | None
    created_at: str
    created_by: str
    started_at: str | None
    updated_at: str
    finished_at: str | None
    run_at: str | None
    jobs: list[RequestJob]
    files: list[str]
    parameters: dict[str, Any]
    names: dict[str, Any]
    result_data: RequestResultData | None
    resumable: bool
    waits_for_approval: str | None
    now: str
    ask_again_s: int | None
    hint: str
    action: Action | None
    details: NotRequired[list[dict[str, Any]]]


class RequestResultData(TypedDict):
    counts: dict[str, Any]
    outputs: dict[str, Any]
    deliverables: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    services: NotRequired[list[RequestResultDataServicesItem]]


class RequestResultDataServicesItem(TypedDict):
    job: str
    name: str
    href: str
    type: str | None
    title: str | None


class RequestEvent(TypedDict):
    event_id: int
    at: str
    kind: str
    actor: str
    job_id: str | None
    job: str | None
    reason: str | None
    data: dict[str, Any] | None


class RequestJob(TypedDict):
    name: str
    job_type: str
    sequence: int
    job_id: str | None
    status: str
    number: int
    after: list[str]
    importance: str
    skip_reason: str | None
    error: dict[str, Any] | None
    gate: str | None
    decision: dict[str, Any] | None
    superseded: list[str]
    opened_at: str | None
    started_at: str | None
    finished_at: str | None
    total: float | None
    completed: float | None
    failed: float | None
    skipped: float | None
    stage: str | None
    stages: float | None


class RequestSubmit(TypedDict):
    dataset_id: str
    resource_id: str
    version_id: str
    data_type: NotRequired[str]
    files: NotRequired[list[str]]
    parameters: NotRequired[dict[str, Any]]
    client_id: NotRequired[str]
    request_type: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    mode: NotRequired[Literal['reuse', 'resume', 'force']]
    priority: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    correlation_id: NotRequired[str]
    webhooks: NotRequired[list[RequestSubmitWebhooksItem | RequestSubmitWebhooksItem1]]
    run_at: NotRequired[str]
    release: NotRequired[dict[str, Any]]


class RequestSubmitWebhooksItem(TypedDict):
    url: str
    secret: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class RequestSubmitWebhooksItem1(TypedDict):
    endpoint: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class RequestSummary(TypedDict):
    request_id: str
    dataset_id: str
    resource_id: str
    version_id: str
    run: int
    data_type: str
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    metadata: dict[str, Any]
    labels: dict[str, Any]
    priority: int
    correlation_id: str | None
    epoch: int
    resume_count: int
    error: dict[str, Any] | None
    created_at: str
    created_by: str
    started_at: str | None
    updated_at: str
    finished_at: str | None
    run_at: str | None
    jobs: list[RequestSummaryJobsItem]


class RequestSummaryJobsItem(TypedDict):
    name: str
    job_type: str
    sequence: int
    job_id: str | None
    status: str


class RetriedTasks(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    epoch: int
    resume_count: int
    from_stage: int
    again: int
    at_least: bool
    kept: int
    stages: list[RetriedTasksStagesItem]
    dry_run: bool
    changed: bool
    stage: str
    stage_id: int
    selected: int
    touched: dict[str, int]
    left: list[RetriedTasksLeftItem]


class RetriedTasksStagesItem(TypedDict):
    number: int
    stage: str
    again: int
    at_most: int
    kept: int
    follows: bool


class RetriedTasksLeftItem(TypedDict):
    reason: str
    tasks: int
    text: str


class ReviewSide(TypedDict):
    request_id: str
    version_id: str
    run: int
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    data_type: str
    created_at: str
    finished_at: str | None
    files: list[str]
    file_count: int
    parameters: dict[str, Any]
    tasks: ReviewSideTasks
    made: list[ReviewSideMadeItem]
    extent: list[float] | None
    at_least: bool
    items: int | None
    items_at_least: bool
    job_ids: list[str]
    release: Release | None


class ReviewSideTasks(TypedDict):
    total: int
    completed: int
    failed: int
    skipped: int


class ReviewSideMadeItem(TypedDict):
    media_type: str
    files: int
    bytes: int


class RunningAttempt(TypedDict):
    attempt: int
    claimed_at: str
    started_at: str | None
    heartbeat_at: str | None
    elapsed_s: float | None
    progress: Any
    progress_age_s: float | None
    worker: WorkerPlace | None


class Schedule(TypedDict):
    name: str
    description: str | None
    cron: str
    time_zone: str
    words: str
    job_type: str
    parameters: dict[str, Any]
    options: dict[str, Any]
    missed: Literal['skip', 'one', 'all']
    version: int
    paused_at: str | None
    paused_by: str | None
    pause_reason: str | None
    next_at: str | None
    last_at: str | None
    last: Tick | None
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    recent: NotRequired[list[RecentTick]]
    fires: NotRequired[list[str]]


class SkippedTasks(TypedDict):
    job_id: str
    tasks: int
    stage: str
    stage_id: int
    selected: int
    touched: dict[str, int]
    left: list[SkippedTasksLeftItem]
    dry_run: bool
    changed: bool


class SkippedTasksLeftItem(TypedDict):
    reason: str
    tasks: int
    text: str


class StacCollection(TypedDict):
    type: Literal['Collection']
    stac_version: str
    stac_extensions: NotRequired[list[str]]
    id: str
    title: NotRequired[str]
    description: str
    license: str
    extent: StacCollectionExtent
    links: list[StacLink]


class StacCollectionExtent(TypedDict):
    spatial: StacCollectionExtentSpatial
    temporal: StacCollectionExtentTemporal


class StacCollectionExtentSpatial(TypedDict):
    bbox: list[list[float]]


class StacCollectionExtentTemporal(TypedDict):
    interval: list[list[str | None]]


class StacCollections(TypedDict):
    collections: list[StacCollection]
    links: list[StacLink]
    numberReturned: int


class StacItem(TypedDict):
    type: Literal['Feature']
    stac_version: str
    stac_extensions: NotRequired[list[str]]
    id: str
    collection: str
    geometry: dict[str, Any] | None
    bbox: NotRequired[list[float]]
    properties: dict[str, Any]
    links: list[StacLink]
    assets: dict[str, dict[str, Any]]


class StacItemPage(TypedDict):
    type: Literal['FeatureCollection']
    features: list[StacItemPart]
    links: list[StacLink]
    numberReturned: int
    numberMatched: NotRequired[int]


class StacItemPart(TypedDict):
    type: NotRequired[Literal['Feature']]
    id: NotRequired[str]
    links: NotRequired[list[StacLink]]


class StacItems(TypedDict):
    type: Literal['FeatureCollection']
    features: list[StacItem]
    links: list[StacLink]


class StacLanding(TypedDict):
    type: Literal['Catalog']
    stac_version: str
    id: str
    title: str
    description: str
    conformsTo: list[str]
    links: list[StacLink]


class StacLink(TypedDict):
    rel: str
    href: str
    type: NotRequired[str]
    title: NotRequired[str]
    method: NotRequired[Literal['GET', 'POST']]
    body: NotRequired[dict[str, Any]]
    merge: NotRequired[bool]


StacQueryables = TypedDict(
    'StacQueryables',
    {
        '$schema': "str",
        '$id': "str",
        'type': "Literal['object']",
        'title': "str",
        'properties': "dict[str, Any]",
        'additionalProperties': "bool",
    },
)


StacSearch = TypedDict(
    'StacSearch',
    {
        'bbox': "NotRequired[list[float] | None]",
        'intersects': "NotRequired[StacSearchIntersects | None]",
        'datetime': "NotRequired[str | None]",
        'ids': "NotRequired[list[str] | None]",
        'collections': "NotRequired[list[str] | None]",
        'limit': "NotRequired[int | None]",
        'token': "NotRequired[str | None]",
        'sortby': "NotRequired[list[StacSearchSortbyItem] | None]",
        'fields': "NotRequired[StacSearchFields | list[str] | None]",
        'filter': "NotRequired[dict[str, Any] | str | bool | None]",
        'filter-lang': "NotRequired[Literal['cql2-text', 'cql2-json'] | None]",
        'filter-crs': "NotRequired[str | None]",
        'query': "NotRequired[dict[str, dict[str, Any]] | None]",
    },
)


class StacSearchIntersects(TypedDict):
    type: str


class StacSearchSortbyItem(TypedDict):
    field: str
    direction: NotRequired[Literal['asc', 'desc']]


class StacSearchFields(TypedDict):
    include: NotRequired[list[str] | None]
    exclude: NotRequired[list[str] | None]


class Stage(TypedDict):
    stage_id: int
    number: int
    name: str
    task_type: str
    parallelism: Literal['single', 'fan_out', 'fan_in', 'match_previous']
    importance: Literal['critical', 'important', 'optional']
    status: Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']
    skip_reason: str | None
    epoch: int
    description: str | None
    gate: StageGate | None
    decision: StageDecision | None
    total: int | None
    completed: int
    failed: int
    skipped: int
    cancelled: int
    processing: int
    queued: int
    retrying: int
    after: list[int]
    of: int | None
    when: StageWhen | None
    budget: StageBudget | None
    max_parallel: int | None
    max_attempts: int | None
    retry: StageRetry | None
    next_retry: StageNextRetry | None
    timeout_s: int | None
    rate_per_s: float | None
    eta_s: float | None
    opened_at: str | None
    closed_at: str | None
    error: TaskError | None


class StageGate(TypedDict):
    message: str


class StageDecision(TypedDict):
    approved: bool
    by: str
    why: str | None
    at: str


class StageWhen(TypedDict):
    path: NotRequired[str]
    function: NotRequired[str]


class StageBudget(TypedDict):
    count: int | None
    percent: float | None
    allowed: int | None


class StageRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class StageNextRetry(TypedDict):
    task_id: str
    attempt: int
    max_attempts: int | None
    run_at: str
    gives_up_at: str | None
    error: TaskError | None


class StageResult(TypedDict):
    stage: str
    status: Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']
    checkpoint: bool
    completed_at: str | None
    task_count: int | None
    success_count: int
    total: int | None
    completed: int
    failed: int
    skipped: int
    summary: str


class Submitted(TypedDict):
    job_id: str
    job_type: str
    run: int
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    created: bool
    resumed: bool
    epoch: int
    hint: str
    action: Action | None


class SubmittedRequest(TypedDict):
    request_id: str
    dataset_id: str
    resource_id: str
    version_id: str
    run: int
    data_type: str
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    created: bool
    resumed: bool
    epoch: int
    jobs: list[SubmittedRequestJobsItem]
    status_url: str


class SubmittedRequestJobsItem(TypedDict):
    name: str
    job_type: str
    sequence: int
    job_id: str | None
    status: str


class Task(TypedDict):
    task_id: str
    job_id: str | None
    stage: str
    task_type: str
    ordinal: int
    index: str
    status: Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']
    attempt: int | None
    priority: int | None
    run_at: str | None
    worker_id: str | None
    created_at: str
    finished_at: str | None
    duration_ms: int | None
    error: TaskError | None
    parameters: dict[str, Any] | None
    metadata: dict[str, Any] | None
    result: Any
    spill: dict[str, Any] | None
    next_stage_params: Any
    deliverables: Any
    stage_number: int | None
    stage_opened_at: str | None
    max_attempts: int | None
    retry: TaskRetry | None
    timeout_s: int | None
    parent: str | None
    bbox: list[float] | None
    bytes: TaskBytes
    left_out: list[str]
    worker: WorkerPlace | None
    running: RunningAttempt | None
    attempts: list[Attempt]
    attempts_left_out: int
    logs: list[TaskLogsItem]


class TaskRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class TaskBytes(TypedDict):
    parameters: int | None
    metadata: int | None
    result: int | None
    next_stage_params: int | None
    deliverables: int | None


class TaskLogsItem(TypedDict):
    at: str
    attempt: int
    level: str
    message: str
    data: Any


TaskError = TypedDict(
    'TaskError',
    {
        'category': "NotRequired[str]",
        'code': "NotRequired[str]",
        'message': "NotRequired[str | None]",
        'signature': "NotRequired[str]",
        'quarantined': "NotRequired[bool]",
        'task_id': "NotRequired[str]",
        'stage': "NotRequired[str]",
        'by': "NotRequired[str]",
        'while': "NotRequired[str]",
    },
)


class TaskSummary(TypedDict):
    task_id: str
    job_id: str | None
    stage: str
    task_type: str
    ordinal: int
    index: str
    status: Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']
    attempt: int | None
    priority: int | None
    run_at: str | None
    worker_id: str | None
    created_at: str
    finished_at: str | None
    duration_ms: int | None
    error: TaskError | None


class TaskWithResult(TypedDict):
    task_id: str
    job_id: str | None
    stage: str
    task_type: str
    ordinal: int
    index: str
    status: Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']
    attempt: int | None
    priority: int | None
    run_at: str | None
    worker_id: str | None
    created_at: str
    finished_at: str | None
    duration_ms: int | None
    error: TaskError | None
    parameters: dict[str, Any] | None
    result: Any
    spill: dict[str, Any] | None


class Tick(TypedDict):
    tick_at: str
    outcome: Literal['submitted', 'failed', 'missed']
    job_id: str | None
    missed: int
    by_hand: bool
    actor: str | None
    reason: str | None
    at: str


Timeline = TypedDict(
    'Timeline',
    {
        'job_id': "str",
        'job_type': "str",
        'status': "Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']",
        'origin': "str",
        'now': "int",
        'started': "int | None",
        'finished': "int | None",
        'from': "int",
        'to': "int",
        'stages': "list[TimelineStagesItem]",
        'workers': "list[WorkerPlace]",
        'path': "list[PathStep]",
    },
)


class TimelineStagesItem(TypedDict):
    stage_id: int
    number: int
    name: str
    task_type: str
    status: Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']
    after: list[int]
    total: int | None
    epoch: int
    opened: int | None
    closed: int | None
    approved: int | None
    looked_at: int
    last_ordinal: int | None
    median_ms: int | None
    p95_ms: int | None
    bins: TimelineStagesItemBins | None
    tasks: list[TimelineStagesItemTasksItem]


class TimelineStagesItemBins(TypedDict):
    started: list[int]
    ended: list[int]
    failed: list[int]


class TimelineStagesItemTasksItem(TypedDict):
    ordinal: int
    index: str
    status: Literal['queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled']
    attempt: int | None
    ready: int | None
    run_at: int | None
    runs: list[TimelineStagesItemTasksItemRunsItem]


TimelineStagesItemTasksItemRunsItem = TypedDict(
    'TimelineStagesItemTasksItemRunsItem',
    {
        'from': "int | None",
        'to': "int | None",
        'outcome': "str",
        'attempt': "int",
        'epoch': "int",
        'worker_id': "str | None",
        'retry_at': "int | None",
        'code': "str | None",
    },
)


class Upload(TypedDict):
    upload_id: str
    ref: str
    key: str
    state: Literal['open', 'publishing', 'completed']
    bytes: int
    part_bytes: int
    media_type: str
    sha256: str | None
    overwrite: bool
    actor: str
    created_at: str
    expires_at: str | None
    completed_at: str | None


class UploadWithParts(TypedDict):
    upload_id: str
    ref: str
    key: str
    state: Literal['open', 'publishing', 'completed']
    bytes: int
    part_bytes: int
    media_type: str
    sha256: str | None
    overwrite: bool
    actor: str
    created_at: str
    expires_at: str | None
    completed_at: str | None
    part_count: int
    missing: int
    parts: list[UploadWithPartsPartsItem]


class UploadWithPartsPartsItem(TypedDict):
    part: int
    offset: int
    bytes: int
    method: Literal['PUT']
    url: str
    headers: dict[str, str]


class Verified(TypedDict):
    job_id: str
    job_type: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    epoch: int
    stages: list[VerifiedStagesItem]
    files: int
    file_count: int
    problems: list[str]
    ok: bool


class VerifiedStagesItem(TypedDict):
    number: int
    stage: str
    status: Literal['waiting', 'waiting_approval', 'planning', 'processing', 'completed', 'partial_success', 'failed', 'skipped', 'cancelled']
    total: int
    ready: int
    claims: int
    completed: int
    failed: int
    skipped: int
    absent: int
    problems: list[str]


class View(TypedDict):
    name: str
    query: str
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str


class WholeLayer(TypedDict):
    name: str
    title: str | None
    description: str | None
    version: int
    feature_count: int
    rejected_count: int
    mode: str | None
    extent: list[float] | None
    geometry_type: str | None
    srid: int | None
    time_column: str | None
    column_count: int
    job_id: str | None
    item_id: str | None
    collection: str | None
    release: dict[str, Any] | None
    created_at: str
    updated_at: str
    key_column: str
    columns: list[WholeLayerColumnsItem]
    source: dict[str, Any]
    style: dict[str, Any] | None


class WholeLayerColumnsItem(TypedDict):
    name: str
    type: str
    pg_type: str
    source_name: NotRequired[str]
    title: NotRequired[str]


class Why(TypedDict):
    id: str
    status: str
    code: str
    reason: str
    evidence: Any
    since: str | None
    heals_at: str | None
    heals: str | None
    action: Action | None
    command: str | None
    call: str | None


class Worker(TypedDict):
    worker_id: str
    shared: bool
    status: Literal['live', 'silent']
    silent_s: int | None
    host: str | None
    pid: int | None
    version: str | None
    types: list[str]
    slots: int
    memory_mb: int | None
    memory_used_mb: int | None
    too_large: dict[str, float]
    started_at: str
    heartbeat_at: str
    lease_ends_at: str
    lease_s: int
    draining_at: str | None
    rss_mb: int | None
    running: int
    held: int
    held_by_others: int | None


class WorkerPlace(TypedDict):
    worker_id: str
    shared: bool
    status: str | None
    host: str | None
    pid: int | None


class WorkerTask(TypedDict):
    task_id: str | None
    planning: bool
    job_id: str | None
    job_type: str | None
    stage: str | None
    index: str
    task_type: str
    attempt: int
    claimed_at: str
    running: bool
    started_at: str | None
    progress: Any


class WouldRequest(TypedDict):
    dry_run: Literal[True]
    would: Literal['create', 'reuse', 'resume', 'refuse']
    request_id: str
    run: int
    data_type: str
    exists: WouldRequestExists | None
    names: dict[str, Any]
    parameters: dict[str, Any]
    problems: list[WouldRequestProblemsItem]
    jobs: list[WouldRequestJobsItem]


class WouldRequestExists(TypedDict):
    request_id: str
    run: int
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    created_at: str


class WouldRequestProblemsItem(TypedDict):
    path: str
    problem: str
    fix: str


class WouldRequestJobsItem(TypedDict):
    name: str
    job_type: str
    sequence: int
    importance: str
    gate: str | None
    conditional: bool


class WouldSubmit(TypedDict):
    dry_run: Literal[True]
    would: Literal['create', 'reuse', 'resume']
    job_id: str
    job_type: str
    run: int
    exists: WouldSubmitExists | None
    run_at: str | None
    waits_for: int
    deadline_s: float | None
    deadline_from: Literal['start', 'submit']
    parameters: dict[str, Any]
    stages: list[WouldSubmitStagesItem]
    tasks: int
    resume: WouldSubmitResume | None
    hint: str


class WouldSubmitExists(TypedDict):
    job_id: str
    run: int
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    created_at: str
    finished_at: str | None


class WouldSubmitStagesItem(TypedDict):
    number: int
    name: str
    task: str
    parallelism: str
    importance: str
    after: list[int]
    gate: str | None
    conditional: bool
    tasks: int | None
    why: str | None
    served: bool


class WouldSubmitResume(TypedDict):
    from_stage: int
    again: int
    kept: int


class GetAlertsReply(TypedDict):
    alerts: list[Alert]
    next: str | None


class GetAuditReply(TypedDict):
    deeds: list[Deed]
    next: str | None


class GetBlueprintsReply(TypedDict):
    blueprints: list[Blueprint]


class PostBlueprintsValidateReply(TypedDict):
    ok: bool
    problems: list[PostBlueprintsValidateReplyProblemsItem]
    warnings: list[PostBlueprintsValidateReplyWarningsItem]


class PostBlueprintsValidateReplyProblemsItem(TypedDict):
    path: str
    problem: str
    fix: str


class PostBlueprintsValidateReplyWarningsItem(TypedDict):
    path: str
    problem: str
    fix: str


class DeleteBlueprintsJobTypeBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class DeleteBlueprintsJobTypeReply(TypedDict):
    type: str
    changed: bool


class PutBlueprintsJobTypeReply(TypedDict):
    blueprint: Blueprint
    changed: bool
    warnings: list[PutBlueprintsJobTypeReplyWarningsItem]


class PutBlueprintsJobTypeReplyWarningsItem(TypedDict):
    path: str
    problem: str
    fix: str


class GetConnectorHostsReply(TypedDict):
    hosts: list[GetConnectorHostsReplyHostsItem]


class GetConnectorHostsReplyHostsItem(TypedDict):
    scope: str
    breaker: Literal['closed', 'open', 'half_open']
    open_until: str | None
    wait_until: str | None
    calls: int
    failed_count: int
    ok_count: int
    mean_s: float
    used_at: str


class GetConnectorsReply(TypedDict):
    connectors: list[GetConnectorsReplyConnectorsItem]


class GetConnectorsReplyConnectorsItem(TypedDict):
    connector: str
    name: str
    config: dict[str, Any]
    created_at: str
    updated_at: str
    updated_by: str


class DeleteConnectorsConnectorNameReply(TypedDict):
    connector: str
    name: str
    removed: bool


class PutConnectorsConnectorNameBody(TypedDict):
    config: dict[str, Any]
    actor: NotRequired[str]


class PutConnectorsConnectorNameReply(TypedDict):
    connector: str
    name: str
    config: dict[str, Any]
    created_at: str
    updated_at: str
    updated_by: str
    warnings: list[str]


class GetDbadminTasksJobIdReply(TypedDict):
    job_id: str
    tasks: list[TaskWithResult]
    next: str | None


class GetDeliveriesReply(TypedDict):
    deliveries: list[GetDeliveriesReplyDeliveriesItem]
    next: str | None


class GetDeliveriesReplyDeliveriesItem(TypedDict):
    delivery_id: str
    endpoint_id: str | None
    url: str | None
    event_type: str
    job_id: str | None
    epoch: int | None
    status: Literal['pending', 'delivered', 'failed', 'discarded']
    reason: str | None
    series: int
    attempts: int
    next_at: str | None
    last_status: int | None
    last_error: str | None
    created_at: str
    ended_at: str | None


class GetDeliveriesDeliveryIdReply(TypedDict):
    delivery_id: str
    endpoint_id: str | None
    url: str | None
    event_type: str
    job_id: str | None
    epoch: int | None
    status: Literal['pending', 'delivered', 'failed', 'discarded']
    reason: str | None
    series: int
    attempts: int
    next_at: str | None
    last_status: int | None
    last_error: str | None
    created_at: str
    ended_at: str | None
    payload: str
    tries: list[GetDeliveriesDeliveryIdReplyTriesItem]


class GetDeliveriesDeliveryIdReplyTriesItem(TypedDict):
    at: str
    series: int
    duration_ms: int | None
    status: int | None
    bytes: int | None
    error: str | None
    body: str | None


class PostDeliveriesDeliveryIdDiscardBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class PostDeliveriesDeliveryIdDiscardReply(TypedDict):
    delivery_id: str
    endpoint_id: str | None
    url: str | None
    event_type: str
    job_id: str | None
    epoch: int | None
    status: Literal['pending', 'delivered', 'failed', 'discarded']
    reason: str | None
    series: int
    attempts: int
    next_at: str | None
    last_status: int | None
    last_error: str | None
    created_at: str
    ended_at: str | None


class PostDeliveriesDeliveryIdReplayReply(TypedDict):
    delivery_id: str
    endpoint_id: str | None
    url: str | None
    event_type: str
    job_id: str | None
    epoch: int | None
    status: Literal['pending', 'delivered', 'failed', 'discarded']
    reason: str | None
    series: int
    attempts: int
    next_at: str | None
    last_status: int | None
    last_error: str | None
    created_at: str
    ended_at: str | None


class GetFilesReply(TypedDict):
    uploads: list[Upload]
    next: str | None


class PostFilesBody(TypedDict):
    key: str
    bytes: int
    sha256: NotRequired[str]
    media_type: NotRequired[str]
    overwrite: NotRequired[bool]
    actor: NotRequired[str]


class PostFilesUploadIdCompleteBody(TypedDict):
    actor: NotRequired[str]


class PutFilesUploadIdPartsPartReply(TypedDict):
    part: int
    bytes: int
    sha256: str


class GetGroupsReply(TypedDict):
    groups: list[Group]
    next: str | None


class PutGroupsGroupIdBody(TypedDict):
    name: NotRequired[str | None]
    expected: NotRequired[int | None]
    actor: NotRequired[str]


class PostGroupsGroupIdCancelBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostGroupsGroupIdCancelReply(TypedDict):
    group_id: str
    cancelled: int
    left: int
    dry_run: bool
    changed: bool


class GetGroupsGroupIdJobsReply(TypedDict):
    jobs: list[GetGroupsGroupIdJobsReplyJobsItem]
    next: str | None


class GetGroupsGroupIdJobsReplyJobsItem(TypedDict):
    job_id: str
    job_type: str
    run: int
    status: str
    priority: int
    labels: dict[str, Any]
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: dict[str, Any] | None


class PostGroupsGroupIdSealBody(TypedDict):
    actor: NotRequired[str]


class PostGroupsGroupIdSealReply(TypedDict):
    changed: bool
    group: Group


class GetHealthReply(TypedDict):
    status: Literal['ok', 'degraded']
    version: str
    database: GetHealthReplyDatabase
    schema: GetHealthReplySchema
    janitor: GetHealthReplyJanitor
    workers: GetHealthReplyWorkers


class GetHealthReplyDatabase(TypedDict):
    reachable: bool


class GetHealthReplySchema(TypedDict):
    current: bool | None


class GetHealthReplyJanitor(TypedDict):
    age_s: float | None
    late: bool | None


class GetHealthReplyWorkers(TypedDict):
    live: float | None


class GetHealthLiveReply(TypedDict):
    status: Literal['alive']
    version: str


class GetHealthPreflightReply(TypedDict):
    ok: bool
    findings: list[GetHealthPreflightReplyFindingsItem]


class GetHealthPreflightReplyFindingsItem(TypedDict):
    name: str
    level: Literal['ok', 'warn', 'fail']
    message: str
    fix: NotRequired[str]
    action: NotRequired[Action]


class GetHealthReadyReply(TypedDict):
    status: Literal['ready']
    version: str


class GetJanitorReply(TypedDict):
    last_run_at: str | None
    last_success_at: str | None
    last_error: str | None
    failing: bool
    age_s: float | None
    late: bool
    actions: list[GetJanitorReplyActionsItem]
    next: str | None


class GetJanitorReplyActionsItem(TypedDict):
    event_id: int
    at: str
    run_id: str | None
    action: str
    target: str | None
    reason: str | None
    job_id: str | None
    stage_id: int | None
    data: dict[str, Any]


class GetJobsReply(TypedDict):
    jobs: list[ListedJob]
    next: str | None
    examined: int
    looked_back_to: str | None


class PostJobsBulkBody(TypedDict):
    action: Literal['cancel', 'pause', 'continue', 'resume']
    filter: NotRequired[PostJobsBulkBodyFilter]
    job_ids: NotRequired[list[str]]
    before: NotRequired[str]
    dry_run: NotRequired[bool]
    reason: NotRequired[str]
    actor: NotRequired[str]
    cursor: NotRequired[str]


class PostJobsBulkBodyFilter(TypedDict):
    q: NotRequired[str]
    status: NotRequired[str]
    type: NotRequired[str]
    label: NotRequired[str]
    id: NotRequired[str]
    error: NotRequired[str]
    correlation_id: NotRequired[str]
    group_id: NotRequired[str]
    created_after: NotRequired[str]
    created_before: NotRequired[str]
    finished_after: NotRequired[str]
    finished_before: NotRequired[str]
    priority_from: NotRequired[int]
    priority_to: NotRequired[int]
    paused: NotRequired[Literal['true', 'false']]
    waiting: NotRequired[Literal['true', 'false']]
    approval: NotRequired[Literal['true', 'false']]
    retrying: NotRequired[Literal['true', 'false']]


class PostJobsBulkReply(TypedDict):
    action: Literal['cancel', 'pause', 'continue', 'resume']
    dry_run: bool
    before: str
    touched: int
    at_least: bool
    skipped: list[PostJobsBulkReplySkippedItem]
    failed: list[PostJobsBulkReplyFailedItem]
    next: str | None


class PostJobsBulkReplySkippedItem(TypedDict):
    kind: str
    message: str
    jobs: int
    job_id: str


class PostJobsBulkReplyFailedItem(TypedDict):
    kind: str
    message: str
    jobs: int
    job_id: str


class GetJobsCountsReply(TypedDict):
    counts: GetJobsCountsReplyCounts
    at_least: list[Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']]
    examined: int
    now: str


class GetJobsCountsReplyCounts(TypedDict):
    queued: int
    processing: int
    completed: int
    partial_success: int
    failed: int
    cancelled: int


class GetJobsFacetsReply(TypedDict):
    types: list[str]
    labels: list[GetJobsFacetsReplyLabelsItem]


class GetJobsFacetsReplyLabelsItem(TypedDict):
    key: str
    values: list[str]


class PostJobsRetryStageJobIdStageBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostJobsSubmitJobTypeBody(TypedDict):
    mode: NotRequired[Literal['reuse', 'resume', 'force']]
    resume: NotRequired[bool]
    priority: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    metadata: NotRequired[dict[str, Any]]
    deadline_s: NotRequired[float | None]
    deadline_from: NotRequired[Literal['start', 'submit']]
    run_at: NotRequired[str]
    correlation_id: NotRequired[str]
    webhooks: NotRequired[list[PostJobsSubmitJobTypeBodyWebhooksItem | PostJobsSubmitJobTypeBodyWebhooksItem1]]
    retry: NotRequired[PostJobsSubmitJobTypeBodyRetry]
    stage_options: NotRequired[dict[str, PostJobsSubmitJobTypeBodyStageOptionsValue]]
    depends_on: NotRequired[list[str]]
    on_dependency_failure: NotRequired[Literal['cancel', 'run']]
    require: NotRequired[Literal['success', 'completed']]
    group_id: NotRequired[str]
    parameters: NotRequired[dict[str, Any]]
    dry_run: NotRequired[bool]


class PostJobsSubmitJobTypeBodyWebhooksItem(TypedDict):
    url: str
    secret: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class PostJobsSubmitJobTypeBodyWebhooksItem1(TypedDict):
    endpoint: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class PostJobsSubmitJobTypeBodyRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostJobsSubmitJobTypeBodyStageOptionsValue(TypedDict):
    failure_budget: NotRequired[PostJobsSubmitJobTypeBodyStageOptionsValueFailureBudget | PostJobsSubmitJobTypeBodyStageOptionsValueFailureBudget1]
    max_parallel: NotRequired[int]
    max_attempts: NotRequired[int]
    retry: NotRequired[PostJobsSubmitJobTypeBodyStageOptionsValueRetry]


class PostJobsSubmitJobTypeBodyStageOptionsValueFailureBudget(TypedDict):
    count: int


class PostJobsSubmitJobTypeBodyStageOptionsValueFailureBudget1(TypedDict):
    percent: float


class PostJobsSubmitJobTypeBodyStageOptionsValueRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostJobsSubmitJobTypeBatchBody(TypedDict):
    items: list[PostJobsSubmitJobTypeBatchBodyItemsItem]
    mode: NotRequired[Literal['reuse', 'resume', 'force']]


class PostJobsSubmitJobTypeBatchBodyItemsItem(TypedDict):
    priority: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    metadata: NotRequired[dict[str, Any]]
    deadline_s: NotRequired[float | None]
    deadline_from: NotRequired[Literal['start', 'submit']]
    run_at: NotRequired[str]
    correlation_id: NotRequired[str]
    webhooks: NotRequired[list[PostJobsSubmitJobTypeBatchBodyItemsItemWebhooksItem | PostJobsSubmitJobTypeBatchBodyItemsItemWebhooksItem1]]
    retry: NotRequired[PostJobsSubmitJobTypeBatchBodyItemsItemRetry]
    stage_options: NotRequired[dict[str, PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValue]]
    depends_on: NotRequired[list[str]]
    on_dependency_failure: NotRequired[Literal['cancel', 'run']]
    require: NotRequired[Literal['success', 'completed']]
    group_id: NotRequired[str]
    parameters: NotRequired[dict[str, Any]]


class PostJobsSubmitJobTypeBatchBodyItemsItemWebhooksItem(TypedDict):
    url: str
    secret: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class PostJobsSubmitJobTypeBatchBodyItemsItemWebhooksItem1(TypedDict):
    endpoint: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]


class PostJobsSubmitJobTypeBatchBodyItemsItemRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValue(TypedDict):
    failure_budget: NotRequired[PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueFailureBudget | PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueFailureBudget1]
    max_parallel: NotRequired[int]
    max_attempts: NotRequired[int]
    retry: NotRequired[PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueRetry]


class PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueFailureBudget(TypedDict):
    count: int


class PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueFailureBudget1(TypedDict):
    percent: float


class PostJobsSubmitJobTypeBatchBodyItemsItemStageOptionsValueRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostJobsSubmitJobTypeBatchReply(TypedDict):
    jobs: list[Submitted]
    created: int


class DeleteJobsJobIdBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class DeleteJobsJobIdReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    tasks: int
    dry_run: bool
    changed: bool


class PostJobsJobIdApproveBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    stage: NotRequired[str]


class PostJobsJobIdCancelBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostJobsJobIdCancelReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    queued: int
    running: int
    dry_run: bool
    changed: bool


class PostJobsJobIdChangeBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    priority: NotRequired[int]
    attempts: NotRequired[int]
    run_at: NotRequired[str]


class PostJobsJobIdChangeReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    priority: int
    run_at: str | None
    queued: int
    dry_run: bool
    changed: bool


class PostJobsJobIdContinueBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostJobsJobIdContinueReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    paused: bool
    queued: int
    dry_run: bool
    changed: bool


class GetJobsJobIdErrorsReply(TypedDict):
    job_id: str
    failed: int
    looked_at: int
    group_count: int
    groups: list[ErrorGroup]


class GetJobsJobIdEventsReply(TypedDict):
    job_id: str
    events: list[Event]
    next: str | None


class GetJobsJobIdFootprintsTasksReply(TypedDict):
    stage_id: int
    count: int
    ranges: list[list[int]]


class PostJobsJobIdPauseBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostJobsJobIdPauseReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    paused: bool
    queued: int
    dry_run: bool
    changed: bool


class PostJobsJobIdRejectBody(TypedDict):
    reason: str
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    stage: NotRequired[str]


class GetJobsJobIdResultReply(TypedDict):
    job_id: str
    status: Literal['queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    result: Any


class PostJobsJobIdResumeBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostJobsJobIdRetryGroupBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    signature: str


class PostJobsJobIdStagesStageTasksRetryBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    ranges: list[list[int]]
    status: NotRequired[list[Literal['failed', 'skipped', 'cancelled']]]


class PostJobsJobIdStagesStageTasksSkipBody(TypedDict):
    reason: str
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    ranges: list[list[int]]
    status: NotRequired[list[Literal['queued', 'processing', 'failed', 'cancelled']]]


class GetJobsJobIdTasksReply(TypedDict):
    tasks: list[TaskSummary]
    next: str | None


class GetKeysReply(TypedDict):
    keys: list[GetKeysReplyKeysItem]
    next: str | None


class GetKeysReplyKeysItem(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None


class PostKeysBody(TypedDict):
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    env: NotRequired[str]
    operator: NotRequired[bool]
    expires_at: NotRequired[str | None]
    actor: NotRequired[str]


class PostKeysReply(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None
    key: str


class DeleteKeysKeyIdReply(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None


class GetKeysKeyIdReply(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None


class PostKeysKeyIdRotateBody(TypedDict):
    overlap_s: NotRequired[int]
    expires_at: NotRequired[str | None]
    actor: NotRequired[str]


class PostKeysKeyIdRotateReply(TypedDict):
    old: PostKeysKeyIdRotateReplyOld
    new: PostKeysKeyIdRotateReplyNew


class PostKeysKeyIdRotateReplyOld(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None


class PostKeysKeyIdRotateReplyNew(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None
    key: str


class GetLayersReply(TypedDict):
    layers: list[Layer]
    next: str | None


class GetLayersLayerIdColumnsColumnNameReply(TypedDict):
    name: str
    type: str
    sampled: bool
    row_count: int
    null_count: int
    distinct_count: int | None
    least: float | str | None
    most: float | str | None
    tenths: list[float] | None
    values: list[GetLayersLayerIdColumnsColumnNameReplyValuesItem]


class GetLayersLayerIdColumnsColumnNameReplyValuesItem(TypedDict):
    value: str
    count: int


class GetLayersLayerIdRejectsReply(TypedDict):
    rejects: list[GetLayersLayerIdRejectsReplyRejectsItem]
    next: str | None
    codes: dict[str, int]
    counted_all: bool


class GetLayersLayerIdRejectsReplyRejectsItem(TypedDict):
    job_id: str
    layer: str
    chunk: int
    row_number: int
    source: str
    code: str
    reason: str
    properties: dict[str, Any] | None
    created_at: str


class PutLayersLayerIdStyleBody(TypedDict):
    style: LayerStyle | None
    actor: NotRequired[str]


class GetLayersLayerIdVersionsReply(TypedDict):
    versions: list[GetLayersLayerIdVersionsReplyVersionsItem]
    next: int | None


class GetLayersLayerIdVersionsReplyVersionsItem(TypedDict):
    version: int
    mode: str
    feature_count: int
    rejected_count: int
    extent: list[float] | None
    geometry_type: str | None
    srid: int | None
    column_count: int
    columns_added: list[str]
    columns_removed: list[str]
    columns_changed: list[str]
    release: dict[str, Any] | None
    job_id: str | None
    readable: bool
    created_at: str
    retired_at: str | None


class GetLimitsReply(TypedDict):
    tenant_id: str
    limits: GetLimitsReplyLimits
    usage: GetLimitsReplyUsage


class GetLimitsReplyLimits(TypedDict):
    concurrent_tasks: int | None
    queued_tasks: int | None
    submits_per_s: float | None
    submit_burst: int | None
    fan_out: int | None
    submit_bytes: int | None
    plan_bytes: int | None


class GetLimitsReplyUsage(TypedDict):
    queued_tasks: int
    concurrent_tasks: int
    submits_left: float | None


class GetLimitsTenantIdReply(TypedDict):
    tenant_id: str
    limits: GetLimitsTenantIdReplyLimits
    usage: GetLimitsTenantIdReplyUsage


class GetLimitsTenantIdReplyLimits(TypedDict):
    concurrent_tasks: int | None
    queued_tasks: int | None
    submits_per_s: float | None
    submit_burst: int | None
    fan_out: int | None
    submit_bytes: int | None
    plan_bytes: int | None


class GetLimitsTenantIdReplyUsage(TypedDict):
    queued_tasks: int
    concurrent_tasks: int
    submits_left: float | None


class PutLimitsTenantIdBody(TypedDict):
    concurrent_tasks: NotRequired[int | None]
    queued_tasks: NotRequired[int | None]
    submits_per_s: NotRequired[float | None]
    submit_burst: NotRequired[int | None]
    fan_out: NotRequired[int | None]
    submit_bytes: NotRequired[int | None]
    plan_bytes: NotRequired[int | None]
    actor: NotRequired[str]


class PutLimitsTenantIdReply(TypedDict):
    tenant_id: str
    limits: PutLimitsTenantIdReplyLimits
    usage: PutLimitsTenantIdReplyUsage


class PutLimitsTenantIdReplyLimits(TypedDict):
    concurrent_tasks: int | None
    queued_tasks: int | None
    submits_per_s: float | None
    submit_burst: int | None
    fan_out: int | None
    submit_bytes: int | None
    plan_bytes: int | None


class PutLimitsTenantIdReplyUsage(TypedDict):
    queued_tasks: int
    concurrent_tasks: int
    submits_left: float | None


class GetOpenapiJsonReply(TypedDict):
    openapi: str


class PostPlatformApproveBody(TypedDict):
    id: str
    clearance: NotRequired[Literal['uncleared', 'restricted', 'public']]
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostPlatformApproveReply(TypedDict):
    release: Release
    verb: str
    after: Literal['pending_review', 'approved', 'rejected', 'revoked']
    jobs: list[str]
    dry_run: bool
    changed: bool


class GetPlatformCatalogLookupReply(TypedDict):
    found: bool
    why: str | None
    release: Release | None
    result_data: Any


class GetPlatformDatasetsReply(TypedDict):
    datasets: list[GetPlatformDatasetsReplyDatasetsItem]
    next: str | None


class GetPlatformDatasetsReplyDatasetsItem(TypedDict):
    dataset_id: str
    resource_id: str
    releases: int
    newest: Release
    latest: Release | None


class GetPlatformFailuresReply(TypedDict):
    hours: int
    since: str
    total: int
    ended: int
    failed: int
    partial_success: int
    failure_rate: float
    patterns: list[GetPlatformFailuresReplyPatternsItem]


class GetPlatformFailuresReplyPatternsItem(TypedDict):
    data_type: str
    job: str
    pattern: str
    requests: int
    first_at: str
    last_at: str
    latest: dict[str, Any]


class GetPlatformRecipesReply(TypedDict):
    recipes: list[Recipe]


class DeletePlatformRecipesDataTypeBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class DeletePlatformRecipesDataTypeReply(TypedDict):
    data_type: str
    changed: bool


class PutPlatformRecipesDataTypeReply(TypedDict):
    recipe: Recipe
    changed: bool


class PostPlatformRejectBody(TypedDict):
    id: str
    reason: str
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostPlatformRejectReply(TypedDict):
    release: Release
    verb: str
    after: Literal['pending_review', 'approved', 'rejected', 'revoked']
    jobs: list[str]
    dry_run: bool
    changed: bool


class GetPlatformReleasesReply(TypedDict):
    dataset_id: str
    resource_id: str
    releases: list[GetPlatformReleasesReplyReleasesItem]


class GetPlatformReleasesReplyReleasesItem(TypedDict):
    release_id: str
    dataset_id: str
    resource_id: str
    version_id: str
    ordinal: int
    revision: int
    data_type: str
    request_id: str
    status: str
    wants_approval: bool
    approval: Literal['pending_review', 'approved', 'rejected', 'revoked']
    clearance: Literal['uncleared', 'restricted', 'public']
    reviewer: str | None
    reason: str | None
    decided_at: str | None
    latest: bool
    created_by: str
    created_at: str
    updated_at: str
    decisions: list[GetPlatformReleasesReplyReleasesItemDecisionsItem]


class GetPlatformReleasesReplyReleasesItemDecisionsItem(TypedDict):
    decision: str
    by: str
    at: str
    reason: str | None
    clearance: str | None
    revision: int | None


class GetPlatformRequestsReply(TypedDict):
    requests: list[RequestSummary]
    next: str | None


class PostPlatformRequestsRequestIdCancelBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostPlatformRequestsRequestIdCancelReply(TypedDict):
    request_id: str
    status: Literal['pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled']
    open_jobs: int
    dry_run: bool
    changed: bool


class PostPlatformRequestsRequestIdDecideBody(TypedDict):
    approved: bool
    job: NotRequired[str]
    reason: NotRequired[str]
    actor: NotRequired[str]


class GetPlatformRequestsRequestIdEventsReply(TypedDict):
    request_id: str
    events: list[RequestEvent]
    next: str | None


class PostPlatformRequestsRequestIdResubmitBody(TypedDict):
    mode: NotRequired[Literal['resume', 'force']]
    reason: NotRequired[str]
    actor: NotRequired[str]


class GetPlatformRequestsRequestIdReviewReply(TypedDict):
    request_id: str
    release: Release | None
    makes_it_now: bool
    now: ReviewSide
    before: ReviewSide | None
    before_is: Literal['approved', 'run_before', 'version_before'] | None


class PostPlatformRevokeBody(TypedDict):
    id: str
    reason: str
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostPlatformRevokeReply(TypedDict):
    release: Release
    verb: str
    after: Literal['pending_review', 'approved', 'rejected', 'revoked']
    jobs: list[str]
    dry_run: bool
    changed: bool


class PostPlatformUnpublishBody(TypedDict):
    id: str
    dry_run: NotRequired[bool]
    reason: NotRequired[str]
    actor: NotRequired[str]


class PostPlatformUnpublishReply(TypedDict):
    release: Release
    made_by: list[str]
    file_count: int
    bytes: int
    files: list[PostPlatformUnpublishReplyFilesItem]
    tables: list[PostPlatformUnpublishReplyTablesItem]
    items: list[PostPlatformUnpublishReplyItemsItem]
    jobs: list[str]
    dry_run: bool
    changed: bool


class PostPlatformUnpublishReplyFilesItem(TypedDict):
    ref: str
    bytes: int
    media_type: str
    adopted: bool


class PostPlatformUnpublishReplyTablesItem(TypedDict):
    kind: str
    ref: str
    bytes: int | None


class PostPlatformUnpublishReplyItemsItem(TypedDict):
    collection: str
    item_id: str


class GetQueuesReply(TypedDict):
    queues: list[Queue]
    more: bool


class GetQueuesDemandReply(TypedDict):
    due: int
    running: int
    slots: int
    wanted_workers: int


class GetRetentionReply(TypedDict):
    tenant_id: str
    rules: list[GetRetentionReplyRulesItem]
    going: list[GetRetentionReplyGoingItem]
    removed: list[GetRetentionReplyRemovedItem]
    rows_left: int


class GetRetentionReplyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str | None
    keep_s: float | None
    keep_count: int | None
    set_for: Literal['tenant', 'everybody'] | None
    changed_at: str | None
    changed_by: str | None


class GetRetentionReplyGoingItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str
    count: int
    oldest_at: str
    at_least: bool


class GetRetentionReplyRemovedItem(TypedDict):
    kind: str
    removed: int
    last_removed_at: str | None


class PutRetentionBody(TypedDict):
    rules: list[PutRetentionBodyRulesItem]
    actor: NotRequired[str]


class PutRetentionBodyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: NotRequired[str]
    status: NotRequired[str]
    keep_s: NotRequired[float | None]
    keep_count: NotRequired[int | None]
    remove: NotRequired[Literal[True]]


class PutRetentionReply(TypedDict):
    tenant_id: str
    rules: list[PutRetentionReplyRulesItem]
    going: list[PutRetentionReplyGoingItem]
    removed: list[PutRetentionReplyRemovedItem]
    rows_left: int


class PutRetentionReplyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str | None
    keep_s: float | None
    keep_count: int | None
    set_for: Literal['tenant', 'everybody'] | None
    changed_at: str | None
    changed_by: str | None


class PutRetentionReplyGoingItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str
    count: int
    oldest_at: str
    at_least: bool


class PutRetentionReplyRemovedItem(TypedDict):
    kind: str
    removed: int
    last_removed_at: str | None


class GetRetentionTenantIdReply(TypedDict):
    tenant_id: str
    rules: list[GetRetentionTenantIdReplyRulesItem]
    going: list[GetRetentionTenantIdReplyGoingItem]
    removed: list[GetRetentionTenantIdReplyRemovedItem]
    rows_left: int


class GetRetentionTenantIdReplyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str | None
    keep_s: float | None
    keep_count: int | None
    set_for: Literal['tenant', 'everybody'] | None
    changed_at: str | None
    changed_by: str | None


class GetRetentionTenantIdReplyGoingItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str
    count: int
    oldest_at: str
    at_least: bool


class GetRetentionTenantIdReplyRemovedItem(TypedDict):
    kind: str
    removed: int
    last_removed_at: str | None


class PutRetentionTenantIdBody(TypedDict):
    rules: list[PutRetentionTenantIdBodyRulesItem]
    actor: NotRequired[str]


class PutRetentionTenantIdBodyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: NotRequired[str]
    status: NotRequired[str]
    keep_s: NotRequired[float | None]
    keep_count: NotRequired[int | None]
    remove: NotRequired[Literal[True]]


class PutRetentionTenantIdReply(TypedDict):
    tenant_id: str
    rules: list[PutRetentionTenantIdReplyRulesItem]
    going: list[PutRetentionTenantIdReplyGoingItem]
    removed: list[PutRetentionTenantIdReplyRemovedItem]
    rows_left: int


class PutRetentionTenantIdReplyRulesItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str | None
    keep_s: float | None
    keep_count: int | None
    set_for: Literal['tenant', 'everybody'] | None
    changed_at: str | None
    changed_by: str | None


class PutRetentionTenantIdReplyGoingItem(TypedDict):
    kind: Literal['jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers']
    type: str | None
    status: str
    count: int
    oldest_at: str
    at_least: bool


class PutRetentionTenantIdReplyRemovedItem(TypedDict):
    kind: str
    removed: int
    last_removed_at: str | None


class GetSchedulePreviewReply(TypedDict):
    words: str
    next: list[str]


class GetSchedulesReply(TypedDict):
    schedules: list[Schedule]
    next: str | None


class DeleteSchedulesNameReply(TypedDict):
    name: str
    deleted: bool


class PatchSchedulesNameBody(TypedDict):
    cron: NotRequired[str]
    time_zone: NotRequired[str]
    job_type: NotRequired[str]
    parameters: NotRequired[dict[str, Any]]
    options: NotRequired[PatchSchedulesNameBodyOptions]
    missed: NotRequired[Literal['skip', 'one', 'all']]
    description: NotRequired[str | None]
    if_version: NotRequired[int]
    actor: NotRequired[str]


class PatchSchedulesNameBodyOptions(TypedDict):
    priority: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    deadline_s: NotRequired[float | None]
    deadline_from: NotRequired[Literal['start', 'submit']]
    correlation_id: NotRequired[str]
    group_id: NotRequired[str]
    retry: NotRequired[PatchSchedulesNameBodyOptionsRetry]


class PatchSchedulesNameBodyOptionsRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PutSchedulesNameBody(TypedDict):
    cron: str
    time_zone: NotRequired[str]
    job_type: str
    parameters: NotRequired[dict[str, Any]]
    options: NotRequired[PutSchedulesNameBodyOptions]
    missed: NotRequired[Literal['skip', 'one', 'all']]
    description: NotRequired[str | None]
    if_version: NotRequired[int]
    actor: NotRequired[str]


class PutSchedulesNameBodyOptions(TypedDict):
    priority: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    deadline_s: NotRequired[float | None]
    deadline_from: NotRequired[Literal['start', 'submit']]
    correlation_id: NotRequired[str]
    group_id: NotRequired[str]
    retry: NotRequired[PutSchedulesNameBodyOptionsRetry]


class PutSchedulesNameBodyOptionsRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostSchedulesNameContinueBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class PostSchedulesNameContinueReply(TypedDict):
    changed: bool
    schedule: Schedule


class PostSchedulesNamePauseBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class PostSchedulesNamePauseReply(TypedDict):
    changed: bool
    schedule: Schedule


class GetSchedulesNamePreviewReply(TypedDict):
    words: str
    next: list[str]


class PostSchedulesNameRunBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]


class PostSchedulesNameRunReply(TypedDict):
    job_id: str
    job_type: str
    run: int
    status: str
    created: bool
    resumed: bool
    epoch: int
    hint: str
    action: Action | None
    tick_at: str


class GetSchedulesNameTicksReply(TypedDict):
    ticks: list[Tick]
    next: str | None


class GetSessionReply(TypedDict):
    tenant_id: str
    tenant_name: str | None
    actor: str
    key_id: str | None
    key_name: str | None
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    expires_at: str | None
    version: str
    catalog: bool


class PostSessionBody(TypedDict):
    key: NotRequired[str]
    code: NotRequired[str]


class PostSessionReply(TypedDict):
    tenant_id: str
    tenant_name: str | None
    actor: str
    key_id: str | None
    key_name: str | None
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    expires_at: str | None
    version: str
    catalog: bool


class PostSessionLinkReply(TypedDict):
    url: str
    key_id: str
    expires_at: str


class PostTaskTypesTaskTypeContinueBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTaskTypesTaskTypeContinueReply(TypedDict):
    task_type: str
    paused: bool
    queued: int
    dry_run: bool
    changed: bool


class PostTaskTypesTaskTypePauseBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTaskTypesTaskTypePauseReply(TypedDict):
    task_type: str
    paused: bool
    queued: int
    dry_run: bool
    changed: bool


class GetTasksReply(TypedDict):
    tasks: list[TaskSummary]
    next: str | None


class PostTasksEnqueueTaskTypeBody(TypedDict):
    idempotency_key: NotRequired[str]
    run_at: NotRequired[str]
    delay_s: NotRequired[float]
    priority: NotRequired[int]
    max_attempts: NotRequired[int]
    retry: NotRequired[PostTasksEnqueueTaskTypeBodyRetry]
    metadata: NotRequired[dict[str, Any]]
    parameters: NotRequired[dict[str, Any]]
    items: NotRequired[list[PostTasksEnqueueTaskTypeBodyItemsItem]]


class PostTasksEnqueueTaskTypeBodyRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostTasksEnqueueTaskTypeBodyItemsItem(TypedDict):
    parameters: NotRequired[dict[str, Any]]
    idempotency_key: NotRequired[str]
    run_at: NotRequired[str]
    delay_s: NotRequired[float]
    priority: NotRequired[int]
    max_attempts: NotRequired[int]
    retry: NotRequired[PostTasksEnqueueTaskTypeBodyItemsItemRetry]
    metadata: NotRequired[dict[str, Any]]


class PostTasksEnqueueTaskTypeBodyItemsItemRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostTasksEnqueueTaskTypeReply(TypedDict):
    task_ids: list[str]
    created: int


class PostTasksRedriveBody(TypedDict):
    filter: NotRequired[PostTasksRedriveBodyFilter]
    run_at: NotRequired[str]
    before: NotRequired[str]
    dry_run: NotRequired[bool]
    reason: NotRequired[str]
    actor: NotRequired[str]
    cursor: NotRequired[str]


class PostTasksRedriveBodyFilter(TypedDict):
    task_type: NotRequired[str]
    job_type: NotRequired[str]
    signature: NotRequired[str]
    failed_after: NotRequired[str]
    failed_before: NotRequired[str]


class PostTasksRedriveReply(TypedDict):
    dry_run: bool
    before: str
    tasks: int
    jobs: int
    skipped: list[PostTasksRedriveReplySkippedItem]
    failed: list[PostTasksRedriveReplyFailedItem]
    next: str | None


class PostTasksRedriveReplySkippedItem(TypedDict):
    kind: str
    message: str
    jobs: int
    job_id: str


class PostTasksRedriveReplyFailedItem(TypedDict):
    kind: str
    message: str
    jobs: int
    job_id: str


class PostTasksTaskIdCancelBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTasksTaskIdCancelReply(TypedDict):
    task_id: str
    status: str
    dry_run: bool
    changed: bool


class GetTasksTaskIdLineageReply(TypedDict):
    task_id: str
    job_id: str | None
    stage: str
    parallelism: str
    up: list[LineageLink]
    down: list[LineageLink]


class GetTasksTaskIdLogsReply(TypedDict):
    task_id: str
    lines: list[LogLine]
    looked_at: int
    older: str | None
    newer: str
    more: bool


class PostTasksTaskIdRedoBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTasksTaskIdRedoReplyOne(TypedDict):
    task_id: str
    status: str
    dry_run: bool
    changed: bool
    again: int


class PostTasksTaskIdRescheduleBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]
    run_at: str
    priority: NotRequired[int]


class PostTasksTaskIdRescheduleReply(TypedDict):
    task_id: str
    status: str
    dry_run: bool
    changed: bool
    run_at: str
    priority: int


class PostTasksTaskIdRetryBody(TypedDict):
    reason: NotRequired[str]
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTasksTaskIdRetryReplyOne(TypedDict):
    task_id: str
    status: str
    dry_run: bool
    changed: bool
    again: int


class PostTasksTaskIdSkipBody(TypedDict):
    reason: str
    actor: NotRequired[str]
    dry_run: NotRequired[bool]


class PostTasksTaskIdSkipReply(TypedDict):
    task_id: str
    status: str
    dry_run: bool
    changed: bool


class GetTenantsReply(TypedDict):
    tenants: list[GetTenantsReplyTenantsItem]
    next: str | None


class GetTenantsReplyTenantsItem(TypedDict):
    tenant_id: str
    name: str | None
    created_at: str


class PostTenantsBody(TypedDict):
    tenant_id: str
    name: NotRequired[str | None]
    actor: NotRequired[str]


class PostTenantsReply(TypedDict):
    tenant_id: str
    name: str | None
    created_at: str
    created: bool


class DeleteTenantsTenantIdBody(TypedDict):
    confirm: NotRequired[str]
    keep_files: NotRequired[bool]
    reason: NotRequired[str]
    dry_run: NotRequired[bool]
    actor: NotRequired[str]


class DeleteTenantsTenantIdReply(TypedDict):
    tenant_id: str
    dry_run: bool
    jobs: int | None
    removed: int
    files: int
    more: bool


class GetTenantsTenantIdReply(TypedDict):
    tenant_id: str
    name: str | None
    created_at: str


class PatchTenantsTenantIdBody(TypedDict):
    name: str | None
    actor: NotRequired[str]


class PatchTenantsTenantIdReply(TypedDict):
    tenant_id: str
    name: str | None
    created_at: str


class PostTenantsTenantIdKeysBody(TypedDict):
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    env: NotRequired[str]
    operator: NotRequired[bool]
    expires_at: NotRequired[str | None]
    actor: NotRequired[str]


class PostTenantsTenantIdKeysReply(TypedDict):
    key_id: str
    tenant_id: str
    env: str
    name: str
    scopes: list[Literal['submit', 'read', 'operate', 'work', 'admin']]
    operator: bool
    status: Literal['active', 'ending', 'expired', 'revoked']
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    rotated_from: str | None
    key: str


class GetViewsReply(TypedDict):
    views: list[View]


class PutViewsViewNameBody(TypedDict):
    query: str


class GetVitalsReply(TypedDict):
    at: str
    version: str
    node: str
    uptime_s: float
    rss_bytes: float
    schema: GetVitalsReplySchema
    pool: GetVitalsReplyPool | None
    database: GetVitalsReplyDatabase | None
    jobs: GetVitalsReplyJobs
    workers: GetVitalsReplyWorkers
    tenants: list[GetVitalsReplyTenantsItem]
    claims_per_s: float | None
    history: list[GetVitalsReplyHistoryItem]


class GetVitalsReplySchema(TypedDict):
    database_version: int | None
    code_version: int
    pending: list[str]


class GetVitalsReplyPool(TypedDict):
    most: int
    open: int
    busy: int
    waiting: int
    stuck: bool


class GetVitalsReplyDatabase(TypedDict):
    size_bytes: float
    connections: int
    locks_waiting: int
    oldest_xmin_age: float
    oldest_transaction_s: float
    commits: float
    rollbacks: float
    deadlocks: float
    dead_tuples: float
    kind: Literal['server', 'embedded']
    connection_limit: int
    stats_visible: bool
    tables: list[GetVitalsReplyDatabaseTablesItem]


class GetVitalsReplyDatabaseTablesItem(TypedDict):
    table: str
    dead: float
    live: float


class GetVitalsReplyJobs(TypedDict):
    queued: int
    processing: int
    paused: int


class GetVitalsReplyWorkers(TypedDict):
    live: int
    silent: int
    slots: int
    busy: int


class GetVitalsReplyTenantsItem(TypedDict):
    tenant_id: str
    due: int
    later: int
    oldest_s: float
    running: int


class GetVitalsReplyHistoryItem(TypedDict):
    size_bytes: float
    connections: int
    locks_waiting: int
    oldest_xmin_age: float
    oldest_transaction_s: float
    commits: float
    rollbacks: float
    deadlocks: float
    dead_tuples: float
    at: str
    claimed: float
    slots: int
    workers: int


class GetWebhooksReply(TypedDict):
    endpoints: list[GetWebhooksReplyEndpointsItem]


class GetWebhooksReplyEndpointsItem(TypedDict):
    endpoint_id: str
    url: str
    description: str | None
    events: list[str]
    timeout_s: int
    status: Literal['enabled', 'paused', 'disabled']
    disabled_at: str | None
    disabled_reason: str | None
    failure_streak: int
    failing_since: str | None
    paused_until: str | None
    secrets: list[GetWebhooksReplyEndpointsItemSecretsItem]
    created_at: str
    created_by: str


class GetWebhooksReplyEndpointsItemSecretsItem(TypedDict):
    kept: str
    since: str
    until: str | None


class PostWebhooksBody(TypedDict):
    url: str
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]
    description: NotRequired[str]
    timeout_s: NotRequired[int]
    secret: NotRequired[str]
    actor: NotRequired[str]


class PostWebhooksReply(TypedDict):
    endpoint_id: str
    url: str
    description: str | None
    events: list[str]
    timeout_s: int
    status: Literal['enabled', 'paused', 'disabled']
    disabled_at: str | None
    disabled_reason: str | None
    failure_streak: int
    failing_since: str | None
    paused_until: str | None
    secrets: list[PostWebhooksReplySecretsItem]
    created_at: str
    created_by: str
    secret: str | None
    warnings: list[str]


class PostWebhooksReplySecretsItem(TypedDict):
    kept: str
    since: str
    until: str | None


class DeleteWebhooksEndpointIdReply(TypedDict):
    endpoint_id: str
    deleted: bool
    discarded: int


class GetWebhooksEndpointIdReply(TypedDict):
    endpoint_id: str
    url: str
    description: str | None
    events: list[str]
    timeout_s: int
    status: Literal['enabled', 'paused', 'disabled']
    disabled_at: str | None
    disabled_reason: str | None
    failure_streak: int
    failing_since: str | None
    paused_until: str | None
    secrets: list[GetWebhooksEndpointIdReplySecretsItem]
    created_at: str
    created_by: str


class GetWebhooksEndpointIdReplySecretsItem(TypedDict):
    kept: str
    since: str
    until: str | None


class PatchWebhooksEndpointIdBody(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[Literal['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked', 'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']]]
    description: NotRequired[str]
    timeout_s: NotRequired[int]
    enabled: NotRequired[bool]
    reason: NotRequired[str]
    actor: NotRequired[str]


class PatchWebhooksEndpointIdReply(TypedDict):
    endpoint_id: str
    url: str
    description: str | None
    events: list[str]
    timeout_s: int
    status: Literal['enabled', 'paused', 'disabled']
    disabled_at: str | None
    disabled_reason: str | None
    failure_streak: int
    failing_since: str | None
    paused_until: str | None
    secrets: list[PatchWebhooksEndpointIdReplySecretsItem]
    created_at: str
    created_by: str
    warnings: list[str]


class PatchWebhooksEndpointIdReplySecretsItem(TypedDict):
    kept: str
    since: str
    until: str | None


class PostWebhooksEndpointIdPingReply(TypedDict):
    delivery_id: str
    endpoint_id: str | None
    url: str | None
    event_type: str
    job_id: str | None
    epoch: int | None
    status: Literal['pending', 'delivered', 'failed', 'discarded']
    reason: str | None
    series: int
    attempts: int
    next_at: str | None
    last_status: int | None
    last_error: str | None
    created_at: str
    ended_at: str | None


PostWebhooksEndpointIdReplayBody = TypedDict(
    'PostWebhooksEndpointIdReplayBody',
    {
        'from': "NotRequired[str]",
        'to': "NotRequired[str]",
        'statuses': "NotRequired[list[Literal['pending', 'delivered', 'failed', 'discarded']]]",
        'dry_run': "NotRequired[bool]",
        'actor': "NotRequired[str]",
    },
)


class PostWebhooksEndpointIdReplayReply(TypedDict):
    endpoint_id: str
    deliveries: int
    dry_run: bool
    more: bool
    next_from: str | None


class PostWebhooksEndpointIdSecretBody(TypedDict):
    secret: NotRequired[str]
    overlap_s: NotRequired[float]
    actor: NotRequired[str]


class PostWebhooksEndpointIdSecretReply(TypedDict):
    endpoint_id: str
    url: str
    description: str | None
    events: list[str]
    timeout_s: int
    status: Literal['enabled', 'paused', 'disabled']
    disabled_at: str | None
    disabled_reason: str | None
    failure_streak: int
    failing_since: str | None
    paused_until: str | None
    secrets: list[PostWebhooksEndpointIdSecretReplySecretsItem]
    created_at: str
    created_by: str
    secret: str | None


class PostWebhooksEndpointIdSecretReplySecretsItem(TypedDict):
    kept: str
    since: str
    until: str | None


class GetWorkProtocolJsonReply(TypedDict):
    protocol: int
    limits: dict[str, Any]


class GetWorkersReply(TypedDict):
    workers: list[Worker]
    gone: list[GoneWorker]


class PostWorkersRegisterBody(TypedDict):
    types: list[str]
    plans: NotRequired[list[str]]
    slots: NotRequired[int]
    lease_s: NotRequired[int]
    host: NotRequired[str]
    pid: NotRequired[int]
    version: NotRequired[str]
    memory_mb: NotRequired[int]
    too_large: NotRequired[dict[str, int]]


class PostWorkersRegisterReply(TypedDict):
    worker_id: str
    lease_s: int
    heartbeat_s: float
    protocol: int


class PostWorkersWorkerIdClaimBody(TypedDict):
    limit: NotRequired[int]
    per_type: NotRequired[dict[str, int]]
    known_stages: NotRequired[list[int]]
    wait_s: NotRequired[float]


class PostWorkersWorkerIdClaimReply(TypedDict):
    tasks: list[PostWorkersWorkerIdClaimReplyTasksItem]
    stages: list[PostWorkersWorkerIdClaimReplyStagesItem]


class PostWorkersWorkerIdClaimReplyTasksItem(TypedDict):
    kind: Literal['task', 'plan']
    task_id: str
    claim_id: int
    stage_id: int
    ordinal: int
    index: str
    attempt: int
    parameters: Any
    metadata: Any


class PostWorkersWorkerIdClaimReplyStagesItem(TypedDict):
    stage_id: int
    tenant_id: str
    job_id: str | None
    job_type: str | None
    stage: str
    number: int
    task_type: str
    timeout_s: float | None
    max_attempts: int | None
    parallelism: Literal['single', 'fan_out', 'fan_in', 'match_previous']
    batch: int | None
    parameters: dict[str, Any] | None
    correlation_id: str | None
    traceparent: NotRequired[str | None]
    planner: Literal['function', 'data']
    previous: list[PostWorkersWorkerIdClaimReplyStagesItemPreviousItem]
    of: int | None


class PostWorkersWorkerIdClaimReplyStagesItemPreviousItem(TypedDict):
    number: int
    name: str
    stage_id: int
    total: int | None
    status: str


class GetWorkersWorkerIdFilesReply(TypedDict):
    entries: list[GetWorkersWorkerIdFilesReplyEntriesItem]
    next: str | None


class GetWorkersWorkerIdFilesReplyEntriesItem(TypedDict):
    bytes: int
    etag: str
    modified_at: str
    key: str


class PostWorkersWorkerIdFilesBodyOne(TypedDict):
    task_id: str
    claim_id: int
    attempt: NotRequired[int]
    zone: Literal['bronze', 'silver', 'gold']
    prefix: str
    name: str
    media_type: str
    bytes: int
    sha256: NotRequired[str]


class PostWorkersWorkerIdFilesBodyOne1(TypedDict):
    task_id: str
    claim_id: int
    attempt: NotRequired[int]
    spill: Literal[True]
    bytes: int
    sha256: NotRequired[str]


class PostWorkersWorkerIdFilesReply(TypedDict):
    zone: Literal['bronze', 'silver', 'gold'] | None
    key: str
    ref: str | None
    href: str | None
    upload: PostWorkersWorkerIdFilesReplyUpload


class PostWorkersWorkerIdFilesReplyUpload(TypedDict):
    method: Literal['PUT']
    url: str
    headers: dict[str, str]
    resumable: bool
    part_bytes: int | None
    expires_s: int | None


class GetWorkersWorkerIdFilesStatReply(TypedDict):
    stat: GetWorkersWorkerIdFilesStatReplyStat | None


class GetWorkersWorkerIdFilesStatReplyStat(TypedDict):
    bytes: int
    etag: str
    modified_at: str


class GetWorkersWorkerIdFilesUploadReply(TypedDict):
    received: int
    complete: bool
    sha256: str | None


class PutWorkersWorkerIdFilesUploadReply(TypedDict):
    received: int
    complete: bool
    sha256: str | None


class PostWorkersWorkerIdFinishBody(TypedDict):
    tasks: list[PostWorkersWorkerIdFinishBodyTasksItem]
    logs: NotRequired[list[PostWorkersWorkerIdFinishBodyLogsItem]]
    claim: NotRequired[PostWorkersWorkerIdFinishBodyClaim]


class PostWorkersWorkerIdFinishBodyTasksItem(TypedDict):
    task_id: str
    claim_id: int
    attempt: NotRequired[int]
    duration_ms: NotRequired[float]
    result: NotRequired[Any]
    spill: NotRequired[PostWorkersWorkerIdFinishBodyTasksItemSpill]
    next_stage_params: NotRequired[Any]
    deliverables: NotRequired[list[Any]]
    effects: NotRequired[list[PostWorkersWorkerIdFinishBodyTasksItemEffectsItem | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem1 | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem2 | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem3 | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem4 | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem5 | PostWorkersWorkerIdFinishBodyTasksItemEffectsItem6]]
    error: NotRequired[PostWorkersWorkerIdFinishBodyTasksItemError]
    discard: NotRequired[list[PostWorkersWorkerIdFinishBodyTasksItemDiscardItem]]


class PostWorkersWorkerIdFinishBodyTasksItemSpill(TypedDict):
    key: str
    bytes: int
    sha256: str


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem(TypedDict):
    effect: Literal['publish']
    zone: Literal['bronze', 'silver', 'gold']
    key: str
    bytes: int
    sha256: str
    media_type: str


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem1(TypedDict):
    effect: Literal['adopt']
    zone: Literal['bronze', 'silver', 'gold']
    key: str
    bytes: int
    sha256: str
    media_type: str


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem2(TypedDict):
    effect: Literal['retract']
    zone: Literal['bronze', 'silver', 'gold']
    key: str
    remove_adopted: NotRequired[bool]


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem3(TypedDict):
    effect: Literal['put_items']
    collection: str
    items: list[dict[str, Any]]


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem4(TypedDict):
    effect: Literal['delete_items']
    collection: str
    ids: list[str]


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem5(TypedDict):
    effect: Literal['put_collection']
    collection: dict[str, Any]
    replace: NotRequired[bool]


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem6(TypedDict):
    effect: Literal['enqueue']
    task_type: str
    tasks: list[PostWorkersWorkerIdFinishBodyTasksItemEffectsItem6TasksItem]
    priority: NotRequired[int]
    delay_s: NotRequired[float]


class PostWorkersWorkerIdFinishBodyTasksItemEffectsItem6TasksItem(TypedDict):
    parameters: dict[str, Any]
    key: NotRequired[str]


class PostWorkersWorkerIdFinishBodyTasksItemError(TypedDict):
    message: str
    code: NotRequired[str]
    category: NotRequired[Literal['transient', 'throttled', 'permanent', 'contract', 'crash']]
    retry_after_s: NotRequired[float]
    detail: NotRequired[dict[str, Any]]
    retry: NotRequired[PostWorkersWorkerIdFinishBodyTasksItemErrorRetry]


class PostWorkersWorkerIdFinishBodyTasksItemErrorRetry(TypedDict):
    attempts: NotRequired[int]
    base_s: NotRequired[float]
    cap_s: NotRequired[float]
    within_s: NotRequired[float]


class PostWorkersWorkerIdFinishBodyTasksItemDiscardItem(TypedDict):
    zone: Literal['bronze', 'silver', 'gold']
    key: str


class PostWorkersWorkerIdFinishBodyLogsItem(TypedDict):
    task_id: str
    claim_id: int
    attempt: NotRequired[int]
    ago_ms: NotRequired[float]
    level: NotRequired[Literal['debug', 'info', 'warn', 'error']]
    message: str
    data: NotRequired[Any]


class PostWorkersWorkerIdFinishBodyClaim(TypedDict):
    limit: NotRequired[int]
    per_type: NotRequired[dict[str, int]]
    known_stages: NotRequired[list[int]]


class PostWorkersWorkerIdFinishReply(TypedDict):
    accepted: int
    retried: int
    refused: list[PostWorkersWorkerIdFinishReplyRefusedItem]
    unstorable: list[PostWorkersWorkerIdFinishReplyUnstorableItem]
    claim: PostWorkersWorkerIdFinishReplyClaim | None


class PostWorkersWorkerIdFinishReplyRefusedItem(TypedDict):
    task_id: str
    claim_id: int
    reason: Literal['not_held', 'twice']


class PostWorkersWorkerIdFinishReplyUnstorableItem(TypedDict):
    task_id: str
    claim_id: int
    message: str


class PostWorkersWorkerIdFinishReplyClaim(TypedDict):
    tasks: list[PostWorkersWorkerIdFinishReplyClaimTasksItem]
    stages: list[PostWorkersWorkerIdFinishReplyClaimStagesItem]


class PostWorkersWorkerIdFinishReplyClaimTasksItem(TypedDict):
    kind: Literal['task', 'plan']
    task_id: str
    claim_id: int
    stage_id: int
    ordinal: int
    index: str
    attempt: int
    parameters: Any
    metadata: Any


class PostWorkersWorkerIdFinishReplyClaimStagesItem(TypedDict):
    stage_id: int
    tenant_id: str
    job_id: str | None
    job_type: str | None
    stage: str
    number: int
    task_type: str
    timeout_s: float | None
    max_attempts: int | None
    parallelism: Literal['single', 'fan_out', 'fan_in', 'match_previous']
    batch: int | None
    parameters: dict[str, Any] | None
    correlation_id: str | None
    traceparent: NotRequired[str | None]
    planner: Literal['function', 'data']
    previous: list[PostWorkersWorkerIdFinishReplyClaimStagesItemPreviousItem]
    of: int | None


class PostWorkersWorkerIdFinishReplyClaimStagesItemPreviousItem(TypedDict):
    number: int
    name: str
    stage_id: int
    total: int | None
    status: str


class PostWorkersWorkerIdHeartbeatBody(TypedDict):
    claims: NotRequired[list[int]]
    running: NotRequired[list[PostWorkersWorkerIdHeartbeatBodyRunningItem]]
    draining: NotRequired[bool]
    rss_mb: NotRequired[int]
    memory_used_mb: NotRequired[int]
    counts: NotRequired[dict[str, PostWorkersWorkerIdHeartbeatBodyCountsValue]]


class PostWorkersWorkerIdHeartbeatBodyRunningItem(TypedDict):
    task_id: str
    claim_id: int
    elapsed_s: float
    timeout_s: NotRequired[float]
    progress: NotRequired[PostWorkersWorkerIdHeartbeatBodyRunningItemProgress | None]
    progress_age_s: NotRequired[float | None]


class PostWorkersWorkerIdHeartbeatBodyRunningItemProgress(TypedDict):
    share: NotRequired[float]
    done: NotRequired[float]
    total: NotRequired[float]
    message: NotRequired[str]


class PostWorkersWorkerIdHeartbeatBodyCountsValue(TypedDict):
    claimed: NotRequired[float]
    completed: NotRequired[float]
    refused: NotRequired[float]
    duration_s: NotRequired[float]
    failed: NotRequired[dict[str, float]]
    retried: NotRequired[dict[str, float]]
    durations: NotRequired[list[float]]


class PostWorkersWorkerIdHeartbeatReply(TypedDict):
    lost: list[int]
    abort: list[PostWorkersWorkerIdHeartbeatReplyAbortItem]


class PostWorkersWorkerIdHeartbeatReplyAbortItem(TypedDict):
    task_id: str
    claim_id: int


class PostWorkersWorkerIdLogsBody(TypedDict):
    lines: list[PostWorkersWorkerIdLogsBodyLinesItem]


class PostWorkersWorkerIdLogsBodyLinesItem(TypedDict):
    task_id: str
    claim_id: int
    attempt: NotRequired[int]
    ago_ms: NotRequired[float]
    level: NotRequired[Literal['debug', 'info', 'warn', 'error']]
    message: str
    data: NotRequired[Any]


class PostWorkersWorkerIdLogsReply(TypedDict):
    written: int
    refused: int


PostWorkersWorkerIdPlanBody = TypedDict(
    'PostWorkersWorkerIdPlanBody',
    {
        'task_id': "str",
        'claim_id': "int",
        'from': "int",
        'tasks': "list[Any]",
    },
)


class PostWorkersWorkerIdPlanReply(TypedDict):
    inserted: int


class PostWorkersWorkerIdPlanDoneBody(TypedDict):
    task_id: str
    claim_id: int
    total: NotRequired[int]
    skip: NotRequired[bool]
    by_data: NotRequired[bool]
    plan_hash: NotRequired[str]


class PostWorkersWorkerIdPlanDoneReply(TypedDict):
    total: int


class GetWorkersWorkerIdPredecessorReply(TypedDict):
    predecessor: GetWorkersWorkerIdPredecessorReplyPredecessor | None


class GetWorkersWorkerIdPredecessorReplyPredecessor(TypedDict):
    ordinal: int
    index: str
    result: Any
    next_stage_params: Any
    left_out: GetWorkersWorkerIdPredecessorReplyPredecessorLeftOut | None
    status: str
    error: Any


class GetWorkersWorkerIdPredecessorReplyPredecessorLeftOut(TypedDict):
    bytes: int
    reason: str
    url: str | None


class PostWorkersWorkerIdReleaseBody(TypedDict):
    tasks: list[PostWorkersWorkerIdReleaseBodyTasksItem]


class PostWorkersWorkerIdReleaseBodyTasksItem(TypedDict):
    task_id: str
    claim_id: int
    started: NotRequired[bool]


class PostWorkersWorkerIdReleaseReply(TypedDict):
    released: int


class GetWorkersWorkerIdResultsReply(TypedDict):
    items: list[GetWorkersWorkerIdResultsReplyItemsItem]
    next: int | None


class GetWorkersWorkerIdResultsReplyItemsItem(TypedDict):
    ordinal: int
    index: str
    result: Any
    next_stage_params: Any
    left_out: GetWorkersWorkerIdResultsReplyItemsItemLeftOut | None


class GetWorkersWorkerIdResultsReplyItemsItemLeftOut(TypedDict):
    bytes: int
    reason: str
    url: str | None


class PostWorkersWorkerIdStopReply(TypedDict):
    released: int


class GetWorkersWorkerIdTasksReply(TypedDict):
    worker_id: str
    held: int
    tasks: list[WorkerTask]
    more: bool


class GetOgcReply(TypedDict):
    links: NotRequired[list[Any]]


class GetOgcCollectionsReply(TypedDict):
    links: NotRequired[list[Any]]


class GetOgcCollectionsLayerIdReply(TypedDict):
    links: NotRequired[list[Any]]


class GetOgcCollectionsLayerIdTilesReply(TypedDict):
    links: NotRequired[list[Any]]


class GetOgcCollectionsLayerIdTilesSetIdReply(TypedDict):
    links: NotRequired[list[Any]]


class GetOgcConformanceReply(TypedDict):
    conformsTo: list[str]


class GetOgcJobsReply(TypedDict):
    jobs: list[Any]
    links: list[Any]


class DeleteOgcJobsProcessJobIdReply(TypedDict):
    jobID: str
    type: Literal['process']
    status: Literal['accepted', 'running', 'successful', 'failed', 'dismissed']


class GetOgcJobsProcessJobIdReply(TypedDict):
    jobID: str
    type: Literal['process']
    status: Literal['accepted', 'running', 'successful', 'failed', 'dismissed']


class GetOgcProcessesReply(TypedDict):
    processes: list[Any]
    links: list[Any]


class GetOgcTileMatrixSetsReply(TypedDict):
    links: NotRequired[list[Any]]


class GetStacConformanceReply(TypedDict):
    conformsTo: list[str]


PostBlueprintsValidateBody: TypeAlias = "BlueprintToValidate"
GetBlueprintsJobTypeReply: TypeAlias = "Blueprint"
PutBlueprintsJobTypeBody: TypeAlias = "BlueprintDeclaration"
PostFilesReply: TypeAlias = "UploadWithParts"
DeleteFilesUploadIdReply: TypeAlias = "Upload"
GetFilesUploadIdReply: TypeAlias = "UploadWithParts"
PostFilesUploadIdCompleteReply: TypeAlias = "Upload"
GetGroupsGroupIdReply: TypeAlias = "Group"
PutGroupsGroupIdReply: TypeAlias = "Group"
PostJobsRetryStageJobIdStageReply: TypeAlias = "Repaired"
GetJobsStatusJobIdReply: TypeAlias = "Job"
PostJobsSubmitJobTypeReply: TypeAlias = "Submitted | WouldSubmit"
GetJobsJobIdReply: TypeAlias = "Job"
PostJobsJobIdApproveReply: TypeAlias = "Decided"
GetJobsJobIdFootprintsReply: TypeAlias = "Footprints"
PostJobsJobIdRejectReply: TypeAlias = "Decided"
PostJobsJobIdResumeReply: TypeAlias = "Repaired"
PostJobsJobIdRetryGroupReply: TypeAlias = "Repaired"
PostJobsJobIdStagesStageTasksRetryReply: TypeAlias = "RetriedTasks"
PostJobsJobIdStagesStageTasksSkipReply: TypeAlias = "SkippedTasks"
GetJobsJobIdTimelineReply: TypeAlias = "Timeline"
GetJobsJobIdVerifyReply: TypeAlias = "Verified"
GetJobsJobIdWhyReply: TypeAlias = "Why"
GetLayersLayerIdReply: TypeAlias = "WholeLayer"
PutLayersLayerIdStyleReply: TypeAlias = "WholeLayer"
GetPlatformRecipesDataTypeReply: TypeAlias = "Recipe"
PutPlatformRecipesDataTypeBody: TypeAlias = "RecipeDeclaration"
PostPlatformRequestsRequestIdDecideReply: TypeAlias = "SubmittedRequest"
PostPlatformRequestsRequestIdResubmitReply: TypeAlias = "SubmittedRequest"
GetPlatformStatusDatasetIdResourceIdReply: TypeAlias = "Request"
GetPlatformStatusDatasetIdResourceIdVersionIdReply: TypeAlias = "Request"
GetPlatformStatusRequestIdReply: TypeAlias = "Request"
PostPlatformSubmitBody: TypeAlias = "RequestSubmit"
PostPlatformSubmitReply: TypeAlias = "SubmittedRequest | WouldRequest"
GetSchedulesNameReply: TypeAlias = "Schedule"
PatchSchedulesNameReply: TypeAlias = "Schedule"
PutSchedulesNameReply: TypeAlias = "Schedule"
GetTasksTaskIdReply: TypeAlias = "Task"
PostTasksTaskIdRedoReply: TypeAlias = "PostTasksTaskIdRedoReplyOne | Repaired"
PostTasksTaskIdRetryReply: TypeAlias = "PostTasksTaskIdRetryReplyOne | Repaired"
GetTasksTaskIdValueReply: TypeAlias = "Any"
GetTasksTaskIdWhyReply: TypeAlias = "Why"
DeleteViewsViewNameReply: TypeAlias = "View"
PutViewsViewNameReply: TypeAlias = "View"
PostWorkersWorkerIdFilesBody: TypeAlias = "PostWorkersWorkerIdFilesBodyOne | PostWorkersWorkerIdFilesBodyOne1"
GetOgcJobsProcessJobIdResultsReply: TypeAlias = "Any"
GetOgcJobsProcessJobIdResultsOutputIdReply: TypeAlias = "Any"
GetOgcProcessesProcessIdReply: TypeAlias = "dict[str, Any]"
PostOgcProcessesProcessIdExecutionBody: TypeAlias = "dict[str, Any]"
PostOgcProcessesProcessIdExecutionReply: TypeAlias = "Any"
GetOgcTileMatrixSetsSetIdReply: TypeAlias = "dict[str, Any]"
GetStacReply: TypeAlias = "StacLanding"
GetStacCollectionsReply: TypeAlias = "StacCollections"
PostStacCollectionsBody: TypeAlias = "dict[str, Any]"
PostStacCollectionsReply: TypeAlias = "StacCollection"
GetStacCollectionsCollectionIdReply: TypeAlias = "StacCollection"
PutStacCollectionsCollectionIdBody: TypeAlias = "dict[str, Any]"
PutStacCollectionsCollectionIdReply: TypeAlias = "StacCollection"
PostStacCollectionsCollectionIdItemsBody: TypeAlias = "dict[str, Any]"
PatchStacCollectionsCollectionIdItemsItemIdBody: TypeAlias = "dict[str, Any]"
PutStacCollectionsCollectionIdItemsItemIdBody: TypeAlias = "dict[str, Any]"
PostStacSearchBody: TypeAlias = "StacSearch"
GetTilesCollectionIdReply: TypeAlias = "dict[str, Any]"
GetTilesCollectionIdTilejsonJsonReply: TypeAlias = "dict[str, Any]"
GetTilesCollectionIdItemIdReply: TypeAlias = "dict[str, Any]"
GetTilesCollectionIdItemIdTilejsonJsonReply: TypeAlias = "dict[str, Any]"
