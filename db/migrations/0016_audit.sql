-- Who did what: the few events that people and keys cause are found among the many that the engine writes, without reading those.

set local role fanfold_owner;

-- What the engine writes by itself is left out by kind, so that its hot path has no more to write; `app.list_audit` repeats this
-- condition word for word, or the planner would not take the index. Newest first, and by an order that no other index has: offered the
-- primary key too, the planner would walk that and hope to meet a row soon.
create index events_of_people on app.events (tenant_id, (-event_id))
  where kind not in (
    'job.submitted', 'job.completed', 'job.partial_success', 'job.failed', 'job.released', 'stage.planned', 'stage.completed',
    'stage.partial_success', 'stage.failed', 'stage.skipped', 'stage.cancelled', 'stage.waiting_approval', 'stage.reopened')
    and kind not like 'janitor.%' and kind not like 'alert.%';

-- The same by who it was: the key or login, without the person behind it.
create index events_of_actor on app.events (tenant_id, (split_part(actor, ' (', 1) collate "C"), (-event_id))
  where kind not in (
    'job.submitted', 'job.completed', 'job.partial_success', 'job.failed', 'job.released', 'stage.planned', 'stage.completed',
    'stage.partial_success', 'stage.failed', 'stage.skipped', 'stage.cancelled', 'stage.waiting_approval', 'stage.reopened')
    and kind not like 'janitor.%' and kind not like 'alert.%';

-- Submits by who it was: one entry for each job.
create index submits_of_actor on app.events (tenant_id, (split_part(actor, ' (', 1) collate "C"), (-event_id))
  where kind = 'job.submitted';

reset role;
