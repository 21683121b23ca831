-- Which deployments a tenant came from. A file of an attempt names the deployment that made it, and a tenant takes its files along when it
-- moves to another cell: this travels with them, so that they are known there as files of ours.

set local role fanfold_owner;

create table app.tenant_origins (
  tenant_id text collate "C" not null references app.tenants,
  deployment text collate "C" not null,
  primary key (tenant_id, deployment),
  constraint deployment_is_an_id check (deployment ~ '^[0-9a-f]{16}$')
);
call app.protect('tenant_origins');

reset role;
