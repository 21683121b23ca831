-- Can an event of this kind be an entry of the audit? Submits are looked for apart. A plain expression that the planner sees through: two
-- indexes of events hold exactly these kinds.
create or replace function app.is_audit_kind(kind text)
returns boolean
language sql immutable
as $$
  select kind not in (
      'job.submitted', 'job.completed', 'job.partial_success', 'job.failed', 'job.released', 'stage.planned', 'stage.completed',
      'stage.partial_success', 'stage.failed', 'stage.skipped', 'stage.cancelled', 'stage.waiting_approval', 'stage.reopened')
    and kind not like 'janitor.%' and kind not like 'alert.%'
$$;
