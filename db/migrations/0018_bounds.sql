-- What tenants send is bounded while it runs, too: how much a plan may grow to, and conditions that are judged by a claim of their own.

set local role fanfold_owner;

alter table app.limits
  -- Parameters and names of the tasks that one plan makes; null: 64 MB.
  add column plan_bytes bigint,
  drop constraint limits_are_positive,
  add constraint limits_are_positive check (
    concurrent_tasks > 0 and queued_tasks > 0 and submits_per_s > 0 and submit_burst > 0 and fan_out > 0 and submit_bytes > 0
    and plan_bytes > 0);

alter table app.stages
  -- Its condition has not been judged yet: whoever plans it does that first.
  add column put_off boolean not null default false;

reset role;
