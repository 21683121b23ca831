-- Counts where these ordinals of a stage stand, as ordinals_by_status has them.
create or replace function app.selection_counts(stage app.stages, ordinals int8multirange)
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object(
        'queued', app.held_count(o.queued), 'processing', app.held_count(o.processing), 'completed', app.held_count(o.completed),
        'failed', app.held_count(o.failed), 'skipped', app.held_count(o.skipped), 'vanished', app.held_count(o.vanished),
        'cancelled', app.held_count(o.cancelled), 'beyond', app.held_count(o.beyond))
      from app.ordinals_by_status(stage, ordinals) o);
end $$;
