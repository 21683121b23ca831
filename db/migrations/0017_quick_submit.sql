-- A job's tenant is that of its blueprint, and a stage's that of its job: keys of their own to the tenant say nothing more, and each
-- submit of a tenant would lock the tenant's row twice, side by side with all its other submits. Standing stages are made by verbs that
-- have looked for the tenant.
alter table app.jobs drop constraint jobs_tenant_id_fkey;
alter table app.stages drop constraint stages_tenant_id_fkey;
