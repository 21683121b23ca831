-- Roles, tenants, the engine's tables and their row-level security.
-- Tables belong to fanfold_owner, nobody writes them but through functions it owns, and no tenant means no rows.

do $$
declare
  v_role text;
begin
  foreach v_role in array array['fanfold_owner', 'fanfold_api', 'fanfold_worker', 'fanfold_admin'] loop
    -- Roles are shared by all databases of a server: another database may create them at the same moment.
    begin
      if not exists (select from pg_roles where rolname = v_role) then
        execute format('create role %I nologin', v_role);
      end if;
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
  begin
    grant fanfold_api, fanfold_worker to fanfold_admin;
    execute format('grant fanfold_owner to %I', current_user);
  exception
    when unique_violation then null;
  end;
  execute format('grant create on database %I to fanfold_owner', current_database());
end $$;

alter schema app owner to fanfold_owner;
grant select on app.schema_migrations, app.schema_functions to fanfold_api, fanfold_worker, fanfold_admin;
grant usage on schema app to fanfold_api, fanfold_worker, fanfold_admin;
alter default privileges for role fanfold_owner in schema app revoke execute on functions from public;
alter default privileges for role fanfold_owner revoke execute on functions from public;
set local role fanfold_owner;

create type app.task_status as enum ('queued', 'processing', 'completed', 'failed', 'skipped', 'cancelled');
create type app.stage_status as enum (
  'waiting', 'waiting_approval', 'planning', 'processing',
  'completed', 'partial_success', 'failed', 'skipped', 'cancelled');
create type app.job_status as enum ('queued', 'processing', 'completed', 'partial_success', 'failed', 'cancelled');
create type app.parallelism as enum ('single', 'fan_out', 'fan_in', 'match_previous');
create type app.importance as enum ('critical', 'important', 'optional');

-- What claim's steps hand to each other: where work is due, and what was taken of it.
create type app.ready_pool as (tenant_id text collate "C", task_type text collate "C", priority smallint, run_at timestamptz);
create type app.taken_range as (
  stage_id bigint, lo bigint, hi bigint, tenant_id text collate "C", task_type text collate "C", priority smallint,
  attempt smallint, crashes smallint, throttles smallint, task_bytes integer);

create table app.tenants (
  tenant_id text collate "C" primary key,
  name text,
  created_at timestamptz not null default now(),
  constraint tenant_id_is_a_short_lower_case_name check (tenant_id ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);
insert into app.tenants (tenant_id, name) values ('default', 'Default tenant');

-- Which tenant a login role is. A row without a tenant is the server's own role: it may name the tenant per call.
create table app.tenant_roles (
  role_name name primary key,
  tenant_id text collate "C" references app.tenants,
  created_at timestamptz not null default now()
);

-- Immutable snapshots of blueprints, addressed by content: jobs of one blueprint share one row.
create table app.blueprints (
  tenant_id text collate "C" not null references app.tenants,
  blueprint_hash text collate "C" not null,
  job_type text collate "C" not null,
  blueprint jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, blueprint_hash)
);

create table app.jobs (
  tenant_id text collate "C" not null references app.tenants,
  job_id text collate "C" not null,
  content_hash text collate "C" not null,
  run integer not null default 1,
  job_type text collate "C" not null,
  blueprint_hash text collate "C" not null,
  status app.job_status not null default 'queued',
  priority smallint not null default 0,
  parameters jsonb not null,
  labels jsonb not null default '{}',
  correlation_id text,
  deadline_at timestamptz,
  epoch integer not null default 1,
  resume_count integer not null default 0,
  error jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  primary key (tenant_id, job_id),
  constraint a_run_of_the_same_content_exists_once unique (tenant_id, content_hash, run),
  foreign key (tenant_id, blueprint_hash) references app.blueprints,
  constraint job_id_is_a_sha256 check (job_id ~ '^[0-9a-f]{64}$'),
  constraint parameters_are_an_object check (jsonb_typeof(parameters) = 'object'),
  constraint finished_job_has_an_end check ((status in ('queued', 'processing')) = (finished_at is null))
) with (fillfactor = 80);
create index jobs_with_a_deadline on app.jobs (deadline_at) where deadline_at is not null and finished_at is null;
create index jobs_by_age on app.jobs (tenant_id, created_at desc, job_id);

-- A stage of a job, or (job_id null) the standing stage in which the lone tasks of one type live.
create table app.stages (
  stage_id bigint generated always as identity primary key,
  tenant_id text collate "C" not null references app.tenants,
  job_id text collate "C",
  number integer not null default 0,
  name text collate "C" not null,
  task_type text collate "C" not null,
  parallelism app.parallelism not null default 'single',
  importance app.importance not null default 'critical',
  after integer[] not null default '{}',
  of_number integer,
  waiting_for integer not null default 0,
  batch integer,
  max_parallel integer,
  timeout_s integer,
  max_attempts smallint not null default 3,
  budget_count bigint,
  budget_percent numeric,
  condition jsonb,
  plan jsonb,
  priority smallint not null default 0,
  status app.stage_status not null default 'waiting',
  skip_reason text,
  error jsonb,
  total bigint,
  summary jsonb,
  opened_at timestamptz,
  closed_at timestamptz,
  foreign key (tenant_id, job_id) references app.jobs,
  constraint closed_stage_has_an_end check (
    (status in ('completed', 'partial_success', 'failed', 'skipped', 'cancelled')) = (closed_at is not null)),
  constraint skipped_stage_says_why check ((status = 'skipped') = (skip_reason is not null)),
  constraint limits_are_positive check (
    batch > 0 and max_parallel > 0 and timeout_s > 0 and max_attempts > 0 and budget_count >= 0
    and budget_percent between 0 and 100)
) with (fillfactor = 80);
create unique index a_stage_number_exists_once_per_job on app.stages (tenant_id, job_id, number) where job_id is not null;
create unique index one_standing_stage_per_task_type on app.stages (tenant_id, task_type) where job_id is null;

-- The one hot row of a running stage. Narrow and roomy, so that its updates stay on their page.
create table app.stage_progress (
  stage_id bigint primary key,
  tenant_id text collate "C" not null,
  total bigint not null,
  completed bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  remaining bigint not null,
  is_open boolean not null default true,
  constraint the_ledger_adds_up check (completed + failed + skipped + remaining = total and remaining >= 0)
) with (fillfactor = 50);

create table app.tasks (
  stage_id bigint not null,
  ordinal bigint not null,
  created_at timestamptz not null default now(),
  max_attempts smallint,
  tenant_id text collate "C" not null,
  index text collate "C",
  parent text collate "C",
  parameters jsonb,
  metadata jsonb,
  bbox double precision[],
  primary key (stage_id, ordinal),
  constraint ordinals_start_at_zero check (ordinal >= 0),
  constraint index_is_a_short_name check (length(index) between 1 and 200),
  constraint bbox_has_four_or_six_numbers check (cardinality(bbox) in (4, 6))
);
create unique index an_index_exists_once_per_stage on app.tasks (stage_id, index) where index is not null;

-- What may run: ranges [lo, hi) of ordinals. Ordinal -1 is the planning of the stage.
create table app.ready (
  ready_id bigint generated always as identity primary key,
  stage_id bigint not null,
  lo bigint not null,
  hi bigint not null,
  run_at timestamptz not null default now(),
  task_bytes integer not null default 0,
  priority smallint not null default 0,
  attempt smallint not null default 1,
  crashes smallint not null default 0,
  throttles smallint not null default 0,
  tenant_id text collate "C" not null,
  task_type text collate "C" not null,
  constraint range_is_not_empty check (lo < hi and lo >= -1)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index ready_order on app.ready (task_type, tenant_id, priority desc, run_at, ready_id);
-- hi never moves when a claim takes from the front: the update of lo stays HOT, and a task is found by the first hi above it.
create index ready_by_stage on app.ready (stage_id, hi);

create table app.claims (
  claim_id bigint generated always as identity primary key,
  stage_id bigint not null,
  worker_id uuid not null,
  claimed_at timestamptz not null default now(),
  task_bytes integer not null default 0,
  priority smallint not null default 0,
  attempt smallint not null,
  crashes smallint not null default 0,
  throttles smallint not null default 0,
  tenant_id text collate "C" not null,
  task_type text collate "C" not null,
  held int8multirange not null,
  constraint a_claim_holds_something check (not isempty(held))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index claims_by_worker on app.claims (worker_id);
create index claims_by_stage on app.claims (stage_id);

create table app.results (
  stage_id bigint not null,
  ordinal bigint not null,
  finished_at timestamptz not null default now(),
  duration_ms integer,
  attempt smallint not null default 1,
  status app.task_status not null,
  worker_id uuid,
  tenant_id text collate "C" not null,
  result jsonb,
  spill jsonb,
  next_stage_params jsonb,
  error jsonb,
  primary key (stage_id, ordinal),
  constraint a_result_is_final check (status in ('completed', 'failed', 'skipped', 'cancelled')),
  -- A guard far above the limits, which count bytes of text: jsonb of many small numbers is several times its text.
  constraint a_large_result_is_spilled check (pg_column_size(result) <= 16777216 and pg_column_size(next_stage_params) <= 4194304)
);
create index failed_results on app.results (stage_id, ordinal) where status = 'failed';

-- One row per attempt that did not simply succeed.
create table app.attempts (
  attempt_id bigint generated always as identity primary key,
  tenant_id text collate "C" not null,
  stage_id bigint not null,
  ordinal bigint not null,
  attempt smallint not null,
  outcome text not null,
  category text,
  code text,
  message text,
  detail jsonb,
  retry_at timestamptz,
  worker_id uuid,
  duration_ms integer,
  ended_at timestamptz not null default now(),
  constraint outcome_is_known check (outcome in ('failed', 'lost', 'released', 'refused', 'superseded'))
);
create index attempts_by_task on app.attempts (stage_id, ordinal);

create table app.task_logs (
  log_id bigint generated always as identity primary key,
  tenant_id text collate "C" not null,
  stage_id bigint not null,
  ordinal bigint not null,
  attempt smallint not null,
  at timestamptz not null,
  level text not null,
  message text not null,
  data jsonb,
  constraint level_is_known check (level in ('debug', 'info', 'warn', 'error'))
);
create index task_logs_by_task on app.task_logs (stage_id, ordinal, log_id);

-- A process incarnation. tenant_id is null for a worker that serves every tenant.
create table app.workers (
  worker_id uuid primary key,
  tenant_id text collate "C" references app.tenants,
  host text,
  pid integer,
  version text,
  types text[] not null,
  slots integer not null,
  connections integer not null default 0,
  lease_s integer not null,
  status text not null default 'live',
  idle boolean not null default false,
  running jsonb not null default '[]',
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint status_is_known check (status in ('live', 'stopped', 'lost'))
) with (fillfactor = 50);
create index live_workers on app.workers (worker_id) where status = 'live';

create table app.events (
  event_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  tenant_id text collate "C" not null,
  kind text not null,
  actor text not null default session_user,
  job_id text collate "C",
  stage_id bigint,
  reason text,
  data jsonb
);
create index events_by_job on app.events (tenant_id, job_id, event_id);

-- The key's hash, because a btree row cannot hold a 10 KB key; the body's hash tells a repeat from a conflict.
create table app.idempotency_keys (
  tenant_id text collate "C" not null references app.tenants,
  task_type text collate "C" not null,
  key_hash bytea not null,
  body_hash bytea not null,
  stage_id bigint not null,
  ordinal bigint not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, task_type, key_hash)
);

-- One number per single task, and one block of 10,000 per bulk call, far above: what is enqueued together stays together.
create sequence app.lone_ordinals as bigint;
create sequence app.lone_blocks as bigint;

-- Replaced by db/functions; here only so that the policies can name it. Answers nobody: closed until the real one is in.
create function app.current_tenant() returns text
language sql stable
as $$ select null::text $$;
grant execute on function app.current_tenant() to fanfold_api, fanfold_worker, fanfold_admin;

do $$
declare
  v_table text;
begin
  for v_table in
    select c.relname
      from pg_class c
     where c.relnamespace = 'app'::regnamespace
       and c.relkind = 'r'
       and c.relname not in ('schema_migrations', 'schema_functions')
  loop
    execute format('alter table app.%I enable row level security', v_table);
    execute format('alter table app.%I force row level security', v_table);
    execute format('create policy owner_sees_all on app.%I to fanfold_owner using (true) with check (true)', v_table);
    execute format(
      'create policy tenant_reads_its_own on app.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
      || 'using (tenant_id = (select app.current_tenant()))', v_table);
    execute format('grant select on app.%I to fanfold_api, fanfold_worker, fanfold_admin', v_table);
  end loop;
end $$;

-- The status of a task is where it is. Nothing stores it twice.
create view app.task_states with (security_invoker = true) as
select
  t.tenant_id, t.stage_id, t.ordinal, coalesce(t.index, t.ordinal::text) as index,
  s.job_id, s.name as stage, s.task_type,
  case
    when r.status is not null then r.status
    when c.claim_id is not null then 'processing'::app.task_status
    when q.ready_id is not null then 'queued'::app.task_status
    else 'cancelled'::app.task_status
  end as status,
  coalesce(r.attempt, c.attempt, q.attempt) as attempt,
  coalesce(q.priority, c.priority) as priority,
  q.run_at, c.worker_id, r.finished_at, r.duration_ms, r.error, t.created_at
from app.tasks t
join app.stages s on s.stage_id = t.stage_id
left join app.results r on r.stage_id = t.stage_id and r.ordinal = t.ordinal
left join lateral (
  select k.claim_id, k.attempt, k.priority, k.worker_id
    from app.claims k
   where k.stage_id = t.stage_id and k.held @> t.ordinal
   limit 1
) c on r.status is null
left join lateral (
  select w.ready_id, w.lo, w.attempt, w.priority, w.run_at
    from app.ready w
   where w.stage_id = t.stage_id and w.hi > t.ordinal
   order by w.hi
   limit 1
) q on r.status is null and c.claim_id is null and q.lo <= t.ordinal;
grant select on app.task_states to fanfold_api, fanfold_worker, fanfold_admin;

reset role;
