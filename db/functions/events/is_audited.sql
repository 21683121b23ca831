-- Did a person or a key cause this event? `engine` are the logins that act by themselves: what they did without naming anybody is a
-- person's doing only where the engine never does such a thing.
create or replace function app.is_audited(event app.events, engine text[])
returns boolean
language sql immutable
as $$
  select case
    when event.kind = 'job.cancelled' and event.data ? 'depends_on' then false
    when event.kind in ('job.submitted', 'job.cancelled', 'webhook.disabled') then event.actor <> all (engine)
    else event.kind in (
      'job.paused', 'job.continued', 'job.resumed', 'job.retried', 'stage.approved', 'stage.rejected', 'task.skipped', 'task.retried',
      'task.cancelled', 'task.rescheduled', 'type.paused', 'type.continued', 'schedule.created', 'schedule.changed', 'schedule.deleted',
      'schedule.paused', 'schedule.continued', 'webhook.created', 'webhook.updated', 'webhook.enabled', 'webhook.deleted',
      'webhook.secret_rotated', 'webhook.pinged', 'webhook.replayed', 'webhook.discarded', 'key.created', 'key.rotated', 'key.revoked',
      'tenant.created', 'tenant.renamed', 'tenant.limited', 'tenant.retention_changed', 'job.purged', 'connector.configured', 'connector.removed', 'blueprint.saved',
      'blueprint.removed', 'group.created', 'group.sealed')
      -- Verbs that come later, with the name of who asked for them.
      or (event.actor ~ '^(key|token):' and event.kind !~ '^(janitor|alert|stage|job|items)[.]')
  end
$$;
