-- The stages of a blueprint as rows: a submit copies them, instead of reading the blueprint's JSON again for each job.

set local role fanfold_owner;

create table app.blueprint_stages (
  tenant_id text collate "C" not null,
  blueprint_hash text collate "C" not null,
  number integer not null,
  name text collate "C" not null,
  task_type text collate "C" not null,
  parallelism app.parallelism not null,
  importance app.importance not null,
  after integer[] not null,
  of_number integer,
  batch integer,
  max_parallel integer,
  timeout_s integer,
  max_attempts smallint,
  retry jsonb,
  budget_count bigint,
  budget_percent numeric,
  condition jsonb,
  plan jsonb,
  description text,
  on_task_failure text not null,
  gate jsonb,
  -- It waits for nothing, and it and the first stages before it are plain: it starts as it is inserted.
  starts boolean not null,
  primary key (tenant_id, blueprint_hash, number),
  foreign key (tenant_id, blueprint_hash) references app.blueprints on delete cascade
);
call app.protect('blueprint_stages');

reset role;
