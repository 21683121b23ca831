-- After how many seconds it is worth asking again for a request that is under way: what is left of the stages that run now by the rate at
-- which their tasks end, else what is left of the time that requests by the same recipe took lately. Between 1 and 60.
create or replace function platform.ask_again_s(request platform.requests)
returns integer
language plpgsql stable
as $$
declare
  v_left_s double precision;
begin
  if exists (
    select from platform.request_jobs j
     where j.tenant_id = request.tenant_id and j.request_id = request.request_id and j.phase = 'waiting_approval') then
    return 60;
  end if;
  select max(p.remaining / nullif(app.stage_rate(s), 0)) into v_left_s
    from app.jobs q
    join app.stages s on s.tenant_id = q.tenant_id and s.job_id = q.job_id and s.status = 'processing'
    join app.stage_progress p on p.stage_id = s.stage_id
   where q.tenant_id = request.tenant_id and q.request_id = request.request_id and q.finished_at is null;
  if v_left_s is null then
    select percentile_cont(0.5) within group (order by extract(epoch from l.finished_at - l.created_at)) - extract(epoch from now() - request.created_at)
      into v_left_s
      from (
        select r.created_at, r.finished_at from platform.requests r
         where r.tenant_id = request.tenant_id and r.status = 'completed' and r.recipe_hash = request.recipe_hash
         order by r.created_at desc limit 20) l;
  end if;
  return greatest(1, least(60, ceil(coalesce(v_left_s, 2))))::integer;
end $$;
