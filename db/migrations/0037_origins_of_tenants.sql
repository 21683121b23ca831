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

-- Endpoints hear how groups of jobs end, and of alerts.
alter table app.webhook_endpoints
  drop constraint events_are_known,
  add constraint events_are_known check (events <@ array[
    'job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success', 'request.failed',
    'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked',
    'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']);

reset role;
