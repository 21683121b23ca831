-- What an operator wants to see of workers and queues at the first look: who drains and who has gone, and what was done in each of
-- the last minutes.

set local role fanfold_owner;

alter table app.workers
  -- The memory of its process, as it said with its last heartbeat.
  add column rss_mb integer,
  -- It takes nothing more and leaves when what runs has ended.
  add column draining_at timestamptz,
  -- How many tasks of each tenant it still held when it ended: they went back.
  add column went_back jsonb not null default '{}',
  add constraint rss_is_a_count check (rss_mb >= 0),
  add constraint went_back_is_an_object check (jsonb_typeof(went_back) = 'object');
create index workers_that_ended on app.workers (ended_at desc) where status <> 'live';

-- What has ended, as the transaction that ended it says; the janitor adds the notes up by the minute and removes them, so that each
-- counts exactly once. One row for each finish, whatever it finished, without an index: whoever writes it must not wait for it.
create table app.rate_notes (
  at timestamptz not null default now(),
  stages bigint[] not null,
  completed bigint[] not null,
  failed bigint[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- They live for seconds: compressing them would take longer than all the rest.
alter table app.rate_notes
  alter column stages set storage external,
  alter column completed set storage external,
  alter column failed set storage external;

-- Minutes in which something happened: what ended in them, and what waited and ran when they were last looked at (null: nobody did).
create table app.rate_minutes (
  tenant_id text collate "C" not null references app.tenants,
  task_type text collate "C" not null,
  minute timestamptz not null,
  completed bigint not null default 0,
  failed bigint not null default 0,
  due bigint,
  later bigint,
  running bigint,
  primary key (tenant_id, task_type, minute)
) with (fillfactor = 70);
create index rate_minutes_by_age on app.rate_minutes (minute);
call app.protect('rate_minutes');

-- The minutes in which somebody looked, how long that took, and how the database was. Tells of no tenant.
create table app.rate_samples (
  minute timestamptz primary key,
  sampled_at timestamptz not null,
  took_ms double precision not null,
  vitals jsonb
) with (fillfactor = 70);

alter table app.rate_notes enable row level security;
alter table app.rate_notes force row level security;
create policy owner_sees_all on app.rate_notes to fanfold_owner using (true) with check (true);
alter table app.rate_samples enable row level security;
alter table app.rate_samples force row level security;
create policy owner_sees_all on app.rate_samples to fanfold_owner using (true) with check (true);

-- Pages of one tenant's alerts and actions, however many the others have.
create index alerts_by_tenant on app.events (tenant_id, event_id) where kind like 'alert.%';
create index janitor_actions_by_tenant on app.events (tenant_id, event_id) where kind like 'janitor.%';

reset role;
