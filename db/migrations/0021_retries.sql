-- Retries have a budget of time: what a submit, a stage and a lone task say about it, and on record what was decided after each
-- failed attempt.

set local role fanfold_owner;

-- How often and how long a failure is tried again. Null: nobody said, and the kind of failure decides (app.retry_defaults).
create type app.retry_budget as (attempts integer, base_s double precision, cap_s double precision, within_s double precision);

-- What is said of waits and time: {base_s?, cap_s?, within_s?}. The number of attempts stays where it was, in max_attempts.
alter table app.stages
  add column retry jsonb,
  alter column max_attempts drop not null,
  alter column max_attempts drop default;
alter table app.tasks add column retry jsonb;
alter table app.jobs add column retry jsonb;
-- Of lone tasks nobody had said anything. Stages of jobs that exist keep the number they were made with.
update app.stages set max_attempts = null where job_id is null;

-- Of how many attempts this was one, and when its task is given up if it goes on failing; null where that is no limit.
alter table app.attempts
  add column max_attempts smallint,
  add column gives_up_at timestamptz;

reset role;
