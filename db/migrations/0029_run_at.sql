-- Jobs that start later: what was asked for, and what they still wait for. One that waits for the clock waits for one thing more (waits_for).

set local role fanfold_owner;

alter table app.jobs
  add column run_at timestamptz,
  add column starts_at timestamptz;
create index jobs_to_start on app.jobs (starts_at) where starts_at is not null and finished_at is null;

reset role;
