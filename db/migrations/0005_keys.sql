-- What a tenant may use at most, what it uses at present, and which key took the place of which.

set local role fanfold_owner;

alter table app.api_keys add column rotated_from text collate "C";

alter table app.limits
  drop constraint limits_are_positive,
  -- Waiting tasks, in jobs and alone.
  add column queued_tasks bigint,
  -- Jobs and lone tasks that may be submitted per second, and how many at once after a pause; null: a second's worth.
  add column submits_per_s double precision,
  add column submit_burst integer,
  -- Tasks of one stage.
  add column fan_out bigint,
  -- Parameters of one call.
  add column submit_bytes bigint,
  add constraint limits_are_positive check (
    concurrent_tasks > 0 and queued_tasks > 0 and submits_per_s > 0 and submit_burst > 0 and fan_out > 0 and submit_bytes > 0);

-- One row for each tenant whose submits are limited: a bucket of tokens that fills with time, and how many tasks are queued, as
-- last counted and with what has been submitted since. Locked by a submit as its last step. Roomy, so that updates stay on the page.
create table app.tenant_usage (
  tenant_id text collate "C" primary key references app.tenants,
  tokens double precision not null,
  filled_at timestamptz not null default clock_timestamp(),
  queued bigint not null default 0,
  counted_at timestamptz not null default '-infinity',
  count_ms double precision not null default 0
) with (fillfactor = 50);
call app.protect('tenant_usage');

reset role;
