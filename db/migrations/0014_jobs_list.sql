-- What lists, counts and acts on a million jobs without looking at all of them: indexes over the few jobs that are asked for by
-- name or by need, how many jobs have ended in which way, and the views people keep.

set local role fanfold_owner;

-- What is tried again: rows that were never tried pay nothing, and the claim's update of lo stays on its page.
create index ready_again on app.ready (tenant_id, stage_id) where attempt > 1 or crashes > 0 or throttles > 0;
create index claims_again on app.claims (tenant_id, stage_id) where attempt > 1 or crashes > 0 or throttles > 0;

-- Each holds only jobs that have what it is about: a plain submit and its end write to none of them.
create index jobs_by_correlation on app.jobs (tenant_id, correlation_id, created_at desc, job_id) where correlation_id is not null;
create index paused_jobs_by_age on app.jobs (tenant_id, created_at desc, job_id) where paused_at is not null;
create index dependent_jobs_by_age on app.jobs (tenant_id, created_at desc, job_id) where waits_for > 0;
create index badly_ended_jobs_by_type on app.jobs (tenant_id, job_type, created_at desc, job_id) where ended_badly;

-- How many jobs of a type have ended in which way. Rows are only added, because whoever counts may hold any lock; the janitor adds
-- them up (fold_counts). The sum is exact, in every snapshot.
create table app.job_tallies (
  tenant_id text collate "C" not null,
  job_type text collate "C" not null,
  status app.job_status not null,
  tally_id bigint generated always as identity,
  amount bigint not null,
  primary key (tenant_id, job_type, status, tally_id),
  constraint only_ended_jobs_are_tallied check (status not in ('queued', 'processing'))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
call app.protect('job_tallies');
-- The indexes above keep writers out until the functions that count are in place.
insert into app.job_tallies (tenant_id, job_type, status, amount)
select j.tenant_id, j.job_type, j.status, count(*)
  from app.jobs j
 where j.finished_at is not null
 group by 1, 2, 3;

-- A filter for the list of jobs under a name, shared by all of its tenant.
create table app.saved_views (
  tenant_id text collate "C" not null references app.tenants,
  name text not null,
  query text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant_id, name),
  constraint name_is_short check (length(name) between 1 and 60),
  constraint query_is_short check (length(query) <= 2000)
);
call app.protect('saved_views');

-- What is asked of jobs, as read_job_filter reads it. Null: anything. `source` says by which index they are found.
create type app.job_filter as (
  statuses app.job_status[], types text[], words text[], id text, error text, correlation_id text, group_id text,
  labels jsonb, label_keys text[], created_after timestamptz, created_before timestamptz, finished_after timestamptz,
  finished_before timestamptz, priority_from integer, priority_to integer, paused boolean, waiting boolean, approval boolean,
  retrying boolean, among text[], source text);

reset role;
