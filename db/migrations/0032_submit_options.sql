-- What a submit may say of single stages; and files that several jobs have recorded, found by the task that was first.

set local role fanfold_owner;

-- {stage: {failure_budget?, max_parallel?, max_attempts?, retry?}}: what was asked for, copied into the stages when they are made.
alter table app.jobs add column stage_options jsonb;

create index assets_of_several_jobs on app.assets (stage_id) where job_id is null;

reset role;
