-- What a submitter wants to find again with a job, as JSON of any shape. Labels are what jobs are found by; this is only kept.

set local role fanfold_owner;

alter table app.jobs add column metadata jsonb;

reset role;
