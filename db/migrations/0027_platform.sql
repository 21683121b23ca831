-- Platform requests: a request is to jobs what a job is to stages. The status of a job of a request is its job's; nothing stores it twice.

set local role fanfold_owner;

create schema platform;
grant usage on schema platform to fanfold_api, fanfold_worker, fanfold_admin;

-- The same protection as app.protect gives.
create procedure platform.protect(table_name text)
language plpgsql
as $$
begin
  execute format('alter table platform.%I enable row level security', table_name);
  execute format('alter table platform.%I force row level security', table_name);
  execute format('create policy owner_sees_all on platform.%I to fanfold_owner using (true) with check (true)', table_name);
  execute format(
    'create policy tenant_reads_its_own on platform.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
    || 'using (tenant_id = (select app.current_tenant()))', table_name);
  execute format('grant select on platform.%I to fanfold_api, fanfold_worker, fanfold_admin', table_name);
end $$;
revoke execute on procedure platform.protect(text) from public;

-- Immutable snapshots of recipes, addressed by content: requests of one recipe share one row.
create table platform.recipes (
  tenant_id text collate "C" not null references app.tenants,
  recipe_hash text collate "C" not null,
  data_type text collate "C" not null,
  recipe jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, recipe_hash)
);
call platform.protect('recipes');

-- The recipes that workers have in code; an empty tenant: of a worker that serves every tenant.
create table platform.registered_recipes (
  tenant_id text collate "C" not null,
  data_type text collate "C" not null,
  recipe jsonb not null,
  registered_at timestamptz not null default now(),
  primary key (tenant_id, data_type),
  constraint data_type_is_the_recipes check (recipe ->> 'data_type' = data_type)
);
call platform.protect('registered_recipes');

-- Recipes that a tenant saved as data. A change is the next version.
create table platform.saved_recipes (
  tenant_id text collate "C" not null references app.tenants,
  data_type text collate "C" not null,
  version integer not null,
  declaration jsonb not null,
  recipe jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  removed_at timestamptz,
  removed_by text,
  primary key (tenant_id, data_type, version),
  constraint saved_data_type_is_the_recipes check (recipe ->> 'data_type' = data_type),
  constraint removed_recipe_says_by_whom check ((removed_at is null) = (removed_by is null))
);
call platform.protect('saved_recipes');

create table platform.requests (
  tenant_id text collate "C" not null references app.tenants,
  -- 32 hex digits of the SHA-256 of canonical JSON of tenant, dataset_id, resource_id, version_id and run.
  request_id text collate "C" not null,
  dataset_id text collate "C" not null,
  resource_id text collate "C" not null,
  version_id text collate "C" not null,
  run integer not null default 1,
  data_type text collate "C" not null,
  recipe_hash text collate "C" not null,
  status text not null default 'pending',
  -- What it is made of: places such as bronze:scene.tif.
  files jsonb not null default '[]',
  parameters jsonb not null default '{}',
  -- client_id, request_type, and whatever else the client said about itself.
  metadata jsonb not null default '{}',
  -- Of what it was asked for: tells a repeat from a conflict.
  body_hash bytea not null,
  priority smallint not null default 0,
  labels jsonb not null default '{}',
  correlation_id text,
  webhooks jsonb,
  traceparent text,
  run_at timestamptz,
  epoch integer not null default 1,
  resume_count integer not null default 0,
  result_data jsonb,
  error jsonb,
  created_at timestamptz not null default now(),
  created_by text not null,
  started_at timestamptz,
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant_id, request_id),
  constraint a_run_of_the_same_version_exists_once unique (tenant_id, dataset_id, resource_id, version_id, run),
  foreign key (tenant_id, recipe_hash) references platform.recipes,
  constraint request_id_is_half_a_sha256 check (request_id ~ '^[0-9a-f]{32}$'),
  constraint names_are_short check (
    length(dataset_id) between 1 and 255 and length(resource_id) between 1 and 255 and length(version_id) between 1 and 50),
  constraint request_status_is_known check (
    status in ('pending', 'processing', 'completed', 'partial_success', 'failed', 'cancelled')),
  constraint finished_request_has_an_end check ((status in ('pending', 'processing')) = (finished_at is null)),
  constraint what_it_says_are_objects check (
    jsonb_typeof(parameters) = 'object' and jsonb_typeof(metadata) = 'object' and jsonb_typeof(labels) = 'object' and jsonb_typeof(files) = 'array')
) with (fillfactor = 70);
create index requests_by_status on platform.requests (tenant_id, status, created_at desc);
create index requests_by_dataset on platform.requests (tenant_id, dataset_id, resource_id, created_at desc);
create index requests_by_age on platform.requests (tenant_id, created_at desc, request_id);
call platform.protect('requests');

-- A job of a request. Until it opens it has no job of its own, and its phase is all there is of it. In phase `processing` it has one, and
-- it is as that job is: queued, processing or ended.
create table platform.request_jobs (
  tenant_id text collate "C" not null,
  request_id text collate "C" not null,
  number integer not null,
  name text collate "C" not null,
  job_id text collate "C",
  job_type text collate "C" not null,
  -- Jobs of the same sequence run in parallel: one more than the highest of those it waits for.
  sequence integer not null default 1,
  blueprint_hash text collate "C" not null,
  importance app.importance not null default 'critical',
  after integer[] not null default '{}',
  -- How its parameters are made: a template, or {"function": hash} for whoever has the recipe in code.
  parameters jsonb,
  condition jsonb,
  gate jsonb,
  decision jsonb,
  phase app.stage_status not null default 'waiting',
  skip_reason text,
  error jsonb,
  -- How many jobs it has had: one for each time its parameters were others after a repair. `superseded` are those before.
  generation integer not null default 0,
  superseded text[] not null default '{}',
  -- The lone task that plans it.
  plan_ordinal bigint,
  created_at timestamptz not null default now(),
  opened_at timestamptz,
  closed_at timestamptz,
  primary key (tenant_id, request_id, number),
  constraint a_job_name_exists_once_per_request unique (tenant_id, request_id, name),
  foreign key (tenant_id, request_id) references platform.requests on delete cascade,
  constraint how_it_ended_is_its_jobs_to_say check (phase not in ('completed', 'partial_success')),
  constraint opened_one_has_a_job check (phase <> 'processing' or job_id is not null),
  constraint closed_one_has_an_end check ((phase in ('failed', 'skipped', 'cancelled')) = (closed_at is not null)),
  constraint skipped_one_says_why check ((phase = 'skipped') = (skip_reason is not null))
) with (fillfactor = 70);
create unique index a_job_belongs_to_one_request on platform.request_jobs (tenant_id, job_id) where job_id is not null;
create index request_jobs_that_are_planned on platform.request_jobs (plan_ordinal) where phase = 'planning';
call platform.protect('request_jobs');

-- The request a job belongs to: what ends a job looks here, and nowhere else when there is none.
alter table app.jobs add column request_id text collate "C";
create index jobs_of_requests on app.jobs (tenant_id, request_id) where request_id is not null;

alter table app.events add column request_id text collate "C";
create index events_of_requests on app.events (tenant_id, request_id, event_id) where request_id is not null;

alter table app.webhook_deliveries add column request_id text collate "C";
create unique index a_receiver_hears_once_how_a_request_ended
  on app.webhook_deliveries (tenant_id, request_id, epoch, coalesce(endpoint_id, url), event_type) where request_id is not null;
alter table app.webhook_endpoints
  drop constraint events_are_known,
  add constraint events_are_known check (events <@ array[
    'job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed',
    'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked']);
-- Requests that name their own receivers are few.
create index requests_with_webhooks on platform.requests (request_id) where webhooks is not null;

reset role;
