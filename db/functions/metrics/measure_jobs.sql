-- Open jobs by status. By their index: a history of ended jobs must not be looked through.
create or replace function app.measure_jobs()
returns json
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return (
    select json_build_object(
        'queued', count(*) filter (where j.status = 'queued'), 'processing', count(*) filter (where j.status = 'processing'),
        'paused', count(*) filter (where j.paused_at is not null))
      from app.jobs j
     where j.finished_at is null);
end $$;
