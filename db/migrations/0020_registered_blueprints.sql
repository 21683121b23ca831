-- The job types that workers have in code, so that SQL can submit them by name: each worker tells its own when it starts.

set local role fanfold_owner;

create table app.registered_blueprints (
  -- Empty: of a worker that serves every tenant.
  tenant_id text collate "C" not null,
  job_type text collate "C" not null,
  blueprint jsonb not null,
  registered_at timestamptz not null default now(),
  primary key (tenant_id, job_type),
  constraint type_is_the_blueprints check (blueprint ->> 'type' = job_type)
);
call app.protect('registered_blueprints');

reset role;
