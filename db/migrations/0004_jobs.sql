-- Jobs are found by status, type and age without looking at all of them, and job types can be saved as data.

set local role fanfold_owner;

-- A column, so that only a change of its value, and not every change of status, touches the index.
alter table app.jobs
  add column ended_badly boolean not null generated always as (status in ('failed', 'cancelled', 'partial_success')) stored;
create index open_jobs_by_age on app.jobs (tenant_id, created_at desc, job_id) where finished_at is null;
create index badly_ended_jobs_by_age on app.jobs (tenant_id, created_at desc, job_id) where ended_badly;
create index jobs_by_type on app.jobs (tenant_id, job_type, created_at desc, job_id);

-- One row per version of a job type that a tenant saved as data; the newest is the one in force, unless it was removed.
create table app.saved_blueprints (
  tenant_id text collate "C" not null references app.tenants,
  job_type text collate "C" not null,
  version integer not null,
  -- As it was sent, and as the engine reads it.
  declaration jsonb not null,
  blueprint jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  removed_at timestamptz,
  removed_by text,
  primary key (tenant_id, job_type, version),
  constraint versions_start_at_one check (version > 0),
  constraint job_type_is_a_name check (job_type ~ '^[a-z][a-z0-9_]{0,62}$'),
  constraint a_saved_blueprint_is_small check (octet_length(declaration::text) <= 1048576)
);
call app.protect('saved_blueprints');

reset role;
