-- What is counted for whoever watches the service. Both tables tell of no tenant, and only functions read them.

-- Sessions of other roles show what they hold back only to members of pg_read_all_stats. Where the migrating role may not grant
-- it, the oldest transaction is judged by our own sessions.
do $$
begin
  if not pg_has_role('fanfold_owner', 'pg_read_all_stats', 'member') then
    grant pg_read_all_stats to fanfold_owner;
  end if;
exception
  when others then null;
end $$;

set local role fanfold_owner;

-- Cumulative counts of each life of a worker, one row per task type, written over with its heartbeats. What the positions mean
-- is said in src/core/work_counts.ts; here they are only added up. The worker of zeros is the total of all that have ended.
create table app.work_counts (
  worker_id uuid not null,
  task_type text collate "C" not null,
  counts double precision[] not null,
  primary key (worker_id, task_type)
) with (fillfactor = 50);

-- What the database itself counts. Rows are only added, because whoever counts may hold any lock; the janitor adds them up.
create table app.tallies (
  tally_id bigint generated always as identity primary key,
  name text collate "C" not null,
  label text collate "C" not null default '',
  amount bigint not null
);

alter table app.work_counts enable row level security;
alter table app.work_counts force row level security;
create policy owner_sees_all on app.work_counts to fanfold_owner using (true) with check (true);
alter table app.tallies enable row level security;
alter table app.tallies force row level security;
create policy owner_sees_all on app.tallies to fanfold_owner using (true) with check (true);

reset role;
