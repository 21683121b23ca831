-- Starts stages that are one plain task each, set by set: the common case, and 100,000 tiny jobs are made of it.
create or replace function app.start_plain(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  update app.stages set status = 'processing', total = 1, waiting_for = 0, opened_at = now() where stage_id = any (stage_ids);
  perform app.fill_plain(stage_ids);
end $$;
