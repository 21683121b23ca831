-- Jobs that wait for other jobs, groups of jobs, and jobs that the clock submits.

set local role fanfold_owner;

alter table app.jobs
  -- So many of the jobs it depends on have not ended as it needs them to: nothing of it starts before this is 0.
  add column waits_for integer not null default 0,
  add constraint waits_for_is_a_count check (waits_for >= 0);
create index jobs_of_a_group on app.jobs (tenant_id, group_id, created_at desc, job_id) where group_id is not null;

create table app.job_dependencies (
  tenant_id text collate "C" not null references app.tenants,
  job_id text collate "C" not null,
  depends_on text collate "C" not null,
  -- success: completed or partial_success; completed: nothing less; end: however it ends.
  needs text not null default 'success',
  -- Once satisfied it stays so, whatever becomes of the other job later.
  satisfied_at timestamptz,
  primary key (tenant_id, job_id, depends_on),
  constraint needs_is_known check (needs in ('success', 'completed', 'end')),
  constraint nothing_waits_for_itself check (job_id <> depends_on)
);
create index dependents_that_wait on app.job_dependencies (tenant_id, depends_on) where satisfied_at is null;
call app.protect('job_dependencies');

-- One row for each tenant that had jobs which wait: whoever tells them holds it. Nobody but the owner sees it, or could lock it.
create table app.dependents_locks (
  tenant_id text collate "C" primary key references app.tenants
);
alter table app.dependents_locks enable row level security;
alter table app.dependents_locks force row level security;
create policy owner_sees_all on app.dependents_locks to fanfold_owner using (true) with check (true);

create table app.job_groups (
  tenant_id text collate "C" not null references app.tenants,
  group_id text collate "C" not null,
  name text,
  created_at timestamptz not null default now(),
  created_by text not null default session_user,
  -- So many jobs it will have: with the last of them it is sealed.
  expected integer,
  sealed_at timestamptz,
  sealed_by text,
  -- Counted once it is sealed, and from the start where `expected` is given; else its jobs' rows say.
  total bigint not null default 0,
  completed bigint not null default 0,
  partial_success bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  status text not null default 'open',
  finished_at timestamptz,
  primary key (tenant_id, group_id),
  constraint group_id_is_a_short_word check (group_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'),
  constraint name_is_short check (length(name) between 1 and 200),
  constraint expected_is_positive check (expected > 0),
  constraint status_is_known check (status in ('open', 'completed', 'partial_success', 'failed', 'cancelled')),
  constraint an_ended_group_has_an_end check ((status = 'open') = (finished_at is null)),
  constraint only_a_sealed_group_ends check (finished_at is null or sealed_at is not null),
  constraint the_counts_add_up check (
    completed >= 0 and partial_success >= 0 and failed >= 0 and cancelled >= 0
    and completed + partial_success + failed + cancelled <= total)
) with (fillfactor = 50);
create index groups_by_age on app.job_groups (tenant_id, created_at desc, group_id);
call app.protect('job_groups');
insert into app.job_groups (tenant_id, group_id, created_at)
select j.tenant_id, j.group_id, min(j.created_at)
  from app.jobs j
 where j.group_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'
 group by j.tenant_id, j.group_id;

-- What a transaction changes in counted groups, until it commits: only then are the groups' rows locked, all of them in one
-- order, and for no longer than the commit takes.
create table app.group_changes (
  change_id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  tenant_id text collate "C" not null,
  group_id text collate "C" not null,
  added integer not null default 0,
  completed integer not null default 0,
  partial_success integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index group_changes_by_transaction on app.group_changes (xid);
call app.protect('group_changes');

-- Replaced by db/functions; here only so that the trigger can name it.
create function app.settle_groups() returns trigger
language plpgsql
as $$ begin return null; end $$;
create constraint trigger groups_are_settled_at_commit
  after insert on app.group_changes
  deferrable initially deferred
  for each row execute function app.settle_groups();

create table app.schedules (
  schedule_id bigint generated always as identity primary key,
  tenant_id text collate "C" not null references app.tenants,
  name text collate "C" not null,
  description text,
  cron text not null,
  time_zone text not null,
  job_type text collate "C" not null,
  parameters jsonb not null default '{}',
  -- Submit options of its jobs.
  options jsonb not null default '{}',
  -- What becomes of times at which nobody was there to submit: none of them, one for all, or each.
  missed text not null default 'one',
  -- One more with each change: whoever computed with what was there before is told.
  version integer not null default 1,
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  -- Null: there is no further time.
  next_at timestamptz,
  last_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint a_name_exists_once_per_tenant unique (tenant_id, name),
  constraint name_is_a_short_word check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  constraint cron_is_short check (length(cron) between 1 and 200),
  constraint time_zone_is_short check (length(time_zone) between 1 and 64),
  constraint missed_is_known check (missed in ('skip', 'one', 'all')),
  constraint parameters_are_an_object check (jsonb_typeof(parameters) = 'object' and jsonb_typeof(options) = 'object')
) with (fillfactor = 80);
create index schedules_by_time on app.schedules (next_at, schedule_id) where paused_at is null and next_at is not null;
call app.protect('schedules');

-- One row for each time that was due. The key is the second guard against two jobs for one of them.
create table app.schedule_ticks (
  schedule_id bigint not null references app.schedules on delete cascade,
  tick_at timestamptz not null,
  tenant_id text collate "C" not null references app.tenants,
  outcome text not null,
  job_id text collate "C",
  -- So many earlier times this one stands for.
  missed integer not null default 0,
  by_hand boolean not null default false,
  actor text,
  reason text,
  at timestamptz not null default now(),
  primary key (schedule_id, tick_at),
  constraint outcome_is_known check (outcome in ('submitted', 'failed', 'missed')),
  constraint a_submitted_tick_has_a_job check ((outcome = 'submitted') = (job_id is not null))
);
call app.protect('schedule_ticks');

reset role;
