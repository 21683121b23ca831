-- The first claim of a job makes it 'processing'. A job row that is locked is left: whoever holds it (not so
-- hold_dependencies, whose lock lets us through) is about to change it.
create or replace function app.mark_started(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  if stage_ids = '{}' then
    return;
  end if;
  update app.jobs j
     set status = 'processing', started_at = now()
   where j.ctid = any (array(
     select q.place
       from unnest(stage_ids) u(stage_id)
       cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
       cross join lateral (
         select q.ctid as place
           from app.jobs q
          where q.tenant_id = s.tenant_id and q.job_id = s.job_id and q.status = 'queued'
            for no key update skip locked) q));
end $$;
