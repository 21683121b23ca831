-- What repair, pauses, gates and the janitor need to remember.

set local role fanfold_owner;

alter table app.jobs
  -- Its own or the default; a resumed job gets it anew. Null: none.
  add column deadline_s double precision,
  -- What was left when a pause or a gate stopped the clock.
  add column deadline_left_s double precision,
  add column paused_at timestamptz,
  add column paused_by text,
  add column pause_reason text;
-- Open jobs, those with a deadline first: for deadlines, and for the janitor to page through.
drop index app.jobs_with_a_deadline;
create index open_jobs on app.jobs (coalesce(deadline_at, 'infinity'), job_id) where finished_at is null;
update app.jobs set deadline_s = extract(epoch from deadline_at - created_at) where deadline_at > created_at;

alter table app.stages
  add column description text,
  add column on_task_failure text not null default 'finish_stage',
  -- {message}: a person must approve before the stage opens; what was decided: {approved, by, why, at}.
  add column gate jsonb,
  add column decision jsonb,
  -- Of its job, copied to where a claim looks anyway.
  add column paused boolean not null default false,
  -- The epoch of the job in which it was last opened.
  add column epoch integer not null default 1,
  -- Repair. What is to run again when the stage is opened next, and whether it is to be planned again first.
  add column again int8multirange not null default '{}',
  add column replan boolean not null default false,
  -- What was put back and had not, or had, completed before: at the next close it says whose input has changed.
  add column repaired int8multirange,
  add column superseded int8multirange,
  add constraint on_task_failure_is_known check (on_task_failure in ('finish_stage', 'fail_fast'));

alter table app.attempts
  add column epoch integer not null default 1,
  add column signature text;

alter table app.results add column deliverables jsonb;
create index results_that_deliver on app.results (stage_id, ordinal) where deliverables is not null;

-- A plan made again waits here until it is merged with the tasks there are.
create table app.task_drafts (
  stage_id bigint not null,
  ordinal bigint not null,
  tenant_id text collate "C" not null,
  index text collate "C",
  parent text collate "C",
  parameters jsonb,
  metadata jsonb,
  bbox double precision[],
  primary key (stage_id, ordinal),
  constraint index_is_a_short_name check (length(index) between 1 and 200),
  constraint bbox_has_four_or_six_numbers check (cardinality(bbox) in (4, 6))
);
create unique index a_draft_index_exists_once on app.task_drafts (stage_id, coalesce(index, ordinal::text));

create table app.paused_types (
  tenant_id text collate "C" not null references app.tenants,
  task_type text collate "C" not null,
  paused_at timestamptz not null default now(),
  paused_by text not null,
  reason text,
  primary key (tenant_id, task_type)
);

create table app.limits (
  tenant_id text collate "C" primary key references app.tenants,
  concurrent_tasks integer,
  constraint limits_are_positive check (concurrent_tasks > 0)
);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['task_drafts', 'paused_types', 'limits'] loop
    execute format('alter table app.%I enable row level security', v_table);
    execute format('alter table app.%I force row level security', v_table);
    execute format('create policy owner_sees_all on app.%I to fanfold_owner using (true) with check (true)', v_table);
    execute format(
      'create policy tenant_reads_its_own on app.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
      || 'using (tenant_id = (select app.current_tenant()))', v_table);
    execute format('grant select on app.%I to fanfold_api, fanfold_worker, fanfold_admin', v_table);
  end loop;
end $$;

-- The janitor's own health, one row that everybody may read: it tells of no tenant.
create table app.janitor (
  only_row boolean primary key default true,
  run_id uuid,
  last_run_at timestamptz,
  last_success_at timestamptz,
  last_error text,
  silence_told_at timestamptz,
  -- How far the stages that closed have been checked.
  checked_event_id bigint not null default 0,
  constraint one_row check (only_row)
);
insert into app.janitor (checked_event_id) select coalesce(max(event_id), 0) from app.events;
alter table app.janitor enable row level security;
alter table app.janitor force row level security;
create policy owner_sees_all on app.janitor to fanfold_owner using (true) with check (true);
create policy anyone_reads on app.janitor for select to fanfold_api, fanfold_worker, fanfold_admin using (true);
grant select on app.janitor to fanfold_api, fanfold_worker, fanfold_admin;

create view app.janitor_actions with (security_invoker = true) as
select
  e.event_id, e.at, (e.data ->> 'run_id')::uuid as run_id, substr(e.kind, 9) as action,
  e.data ->> 'target' as target, e.reason, e.tenant_id, e.job_id, e.stage_id, e.actor, e.data
from app.events e
where e.kind like 'janitor.%';
create view app.alerts with (security_invoker = true) as
select e.event_id, e.at, substr(e.kind, 7) as alert, e.reason, e.tenant_id, e.job_id, e.stage_id, e.actor, e.data
from app.events e
where e.kind like 'alert.%';
create index events_to_look_at on app.events (event_id) where kind like 'janitor.%' or kind like 'alert.%';
grant select on app.janitor_actions, app.alerts to fanfold_api, fanfold_worker, fanfold_admin;

reset role;
