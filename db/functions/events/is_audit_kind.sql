-- Can an event of this kind be an entry of the audit? Submits are looked for apart. Written with the event (events.audit), because two indexes
-- hold exactly these, and an index with this as its condition costs every event its planning.
create or replace function app.is_audit_kind(kind text)
returns boolean
language sql immutable
as $$
  select kind not in (
      'job.submitted', 'job.completed', 'job.partial_success', 'job.failed', 'job.released', 'stage.planned', 'stage.completed',
      'stage.partial_success', 'stage.failed', 'stage.skipped', 'stage.cancelled', 'stage.waiting_approval', 'stage.reopened')
    and kind not like 'janitor.%' and kind not like 'alert.%'
$$;
