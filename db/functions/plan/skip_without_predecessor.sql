-- Tasks of a match_previous stage whose predecessor did not complete: skipped, so that ordinals stay aligned and a later repair
-- knows its place.
create or replace function app.skip_without_predecessor(stage app.stages, previous app.stages, ordinals int8multirange)
returns bigint
language plpgsql
as $$
declare
  v_skipped bigint;
begin
  insert into app.results (stage_id, ordinal, tenant_id, status, error)
  select stage.stage_id, o, stage.tenant_id, 'skipped',
    jsonb_build_object('code', 'no_predecessor', 'message', 'the task with this index did not complete in stage "' || previous.name || '"')
    from unnest(ordinals) r, generate_series(lower(r), upper(r) - 1) o;
  get diagnostics v_skipped = row_count;
  return v_skipped;
end $$;
