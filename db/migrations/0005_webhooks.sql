-- Who hears of outcomes, what they are told, and how each try went.

set local role fanfold_owner;

create table app.webhook_endpoints (
  tenant_id text collate "C" not null references app.tenants,
  endpoint_id text collate "C" not null,
  url text not null,
  description text,
  -- What it hears of every job; a job may also name it, whatever it subscribed to.
  events text[] not null,
  -- [{secret, since, until?}], the newest first. `secret` is sealed, or the name of one kept elsewhere (secret://…): never plain.
  secrets jsonb not null,
  timeout_s integer not null default 20,
  disabled_at timestamptz,
  disabled_reason text,
  -- Failed sends in a row. Enough of them pause the endpoint (paused_until); then one delivery at a time tries it (probe_id).
  failure_streak integer not null default 0,
  failing_since timestamptz,
  pause_count integer not null default 0,
  paused_until timestamptz,
  probe_id text collate "C",
  probe_until timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (tenant_id, endpoint_id),
  constraint endpoint_id_is_short check (endpoint_id ~ '^we_[a-z0-9]{16}$'),
  constraint url_is_short check (octet_length(url) between 8 and 2048),
  constraint description_is_short check (length(description) <= 500),
  constraint events_are_known check (events <@ array['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled']),
  constraint secrets_are_a_short_list check (jsonb_typeof(secrets) = 'array' and jsonb_array_length(secrets) between 1 and 5),
  constraint timeout_is_patient_but_not_endless check (timeout_s between 1 and 30),
  constraint disabled_endpoint_says_why check ((disabled_at is null) = (disabled_reason is null))
) with (fillfactor = 80);
call app.protect('webhook_endpoints');
-- A sealed secret is of no use to its tenant.
revoke select on app.webhook_endpoints from fanfold_api, fanfold_worker, fanfold_admin;

create sequence app.webhook_order as bigint;

-- The outbox: one row for each outcome and receiver, written in the transaction of the outcome. A pending one has a task.
create table app.webhook_deliveries (
  tenant_id text collate "C" not null references app.tenants,
  -- Sent as webhook-id: the same on every try and replay, without dots, and in the order in which they came to be.
  delivery_id text collate "C" not null,
  endpoint_id text collate "C",
  -- Of a receiver that only the job knows: its address and the names of its secrets.
  url text,
  secrets jsonb,
  event_type text not null,
  job_id text collate "C",
  epoch integer,
  -- The very bytes that are sent.
  payload text not null,
  status text not null default 'pending',
  reason text,
  -- Replays begin a new series of tries; attempts counts those of the series.
  series integer not null default 1,
  attempts integer not null default 0,
  -- One for each task that was queued for it: only the latest may send.
  ticket integer not null default 1,
  task_ordinal bigint not null default nextval('app.lone_ordinals'),
  next_at timestamptz default now(),
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (tenant_id, delivery_id),
  constraint delivery_id_has_no_dots check (delivery_id ~ '^msg_[a-z0-9]{20,60}$'),
  constraint it_has_one_receiver check ((endpoint_id is null) = (url is not null)),
  constraint payload_is_thin check (octet_length(payload) <= 20480),
  constraint status_is_known check (status in ('pending', 'delivered', 'failed', 'discarded')),
  constraint pending_delivery_has_a_next_time check ((status = 'pending') = (next_at is not null) and (status = 'pending') = (ended_at is null))
) with (fillfactor = 70);
create index webhook_deliveries_by_endpoint on app.webhook_deliveries (tenant_id, endpoint_id, delivery_id);
create unique index a_receiver_hears_once_how_a_job_ended
  on app.webhook_deliveries (tenant_id, job_id, epoch, coalesce(endpoint_id, url), event_type) where job_id is not null;
create index webhook_deliveries_that_are_due on app.webhook_deliveries (next_at, delivery_id) where status = 'pending';
-- What needs attention is found without reading past everything that arrived.
create index webhook_deliveries_not_delivered on app.webhook_deliveries (tenant_id, status, delivery_id) where status <> 'delivered';
call app.protect('webhook_deliveries');

-- One row for each send. Never headers, and of a reply's body at most the beginning.
create table app.webhook_attempts (
  tenant_id text collate "C" not null references app.tenants,
  delivery_id text collate "C" not null,
  ticket integer not null,
  series integer not null,
  at timestamptz not null default now(),
  duration_ms integer,
  status integer,
  bytes bigint,
  error text,
  body text,
  primary key (tenant_id, delivery_id, ticket),
  foreign key (tenant_id, delivery_id) references app.webhook_deliveries on delete cascade,
  constraint body_is_an_excerpt check (octet_length(body) <= 1024)
);
call app.protect('webhook_attempts');

-- Jobs that name their own receivers are few: whether one of those that end here does is one look into a small index.
create index jobs_with_webhooks on app.jobs (job_id) where webhooks is not null;

reset role;
