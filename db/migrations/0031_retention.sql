-- History that goes away by rule. What a rule lets go disappears in one transaction; the many rows of its tasks follow in small pieces.

set local role fanfold_owner;

-- How long what has ended is kept, where that is not as `app.retention_of` has it by itself. An empty tenant: the rule of all who have none of
-- their own; an empty type or status: of any.
create table app.retention_rules (
  tenant_id text collate "C" not null default '',
  kind text not null,
  of_type text collate "C" not null default '',
  status text not null default '',
  -- Null: for ever.
  keep_s double precision,
  -- So many of the newest stay and no more, of each type. Null: any number.
  keep_count integer,
  changed_at timestamptz not null default now(),
  changed_by text not null default session_user,
  primary key (tenant_id, kind, of_type, status),
  constraint kind_is_known check (
    kind in ('jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers')),
  constraint only_work_has_a_type check (of_type = '' or kind in ('jobs', 'tasks')),
  constraint only_what_ends_has_a_status check (status = '' or kind in ('jobs', 'tasks', 'requests', 'deliveries')),
  constraint only_jobs_are_counted check (keep_count is null or (kind = 'jobs' and keep_count > 0)),
  constraint an_age_is_positive check (keep_s >= 0)
);
alter table app.retention_rules enable row level security;
alter table app.retention_rules force row level security;
create policy owner_sees_all on app.retention_rules to fanfold_owner using (true) with check (true);
create policy tenant_reads_what_holds_for_it on app.retention_rules for select to fanfold_api, fanfold_worker, fanfold_admin
  using (tenant_id in ('', (select app.current_tenant())));
grant select on app.retention_rules to fanfold_api, fanfold_worker, fanfold_admin;

-- Stages whose job is gone: nothing finds them any more, and their tasks, results, attempts and logs go in small pieces, `lo` first.
create table app.removed_stages (
  stage_id bigint primary key,
  tenant_id text collate "C" not null,
  lo bigint not null default -1,
  hi bigint not null,
  removed_at timestamptz not null default now()
);
call app.protect('removed_stages');
create index removed_stages_by_age on app.removed_stages (removed_at, stage_id);

-- Where the look through what a tenant has stands; when it has seen all, it rests until `due_at`.
create table app.retention_rounds (
  tenant_id text collate "C" not null,
  kind text not null,
  after jsonb,
  due_at timestamptz not null default 'epoch',
  removed bigint not null default 0,
  last_removed_at timestamptz,
  primary key (tenant_id, kind)
) with (fillfactor = 50);
call app.protect('retention_rounds');
create index retention_rounds_by_time on app.retention_rounds (due_at, tenant_id, kind);

-- Rows that went leave room that the next ones take: the room is found early, so that no table is much larger than what is in it.
alter table app.tasks set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);
alter table app.results set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);
alter table app.attempts set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);
alter table app.task_logs set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);
alter table app.events set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);
alter table app.jobs set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
alter table app.stages set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

reset role;
