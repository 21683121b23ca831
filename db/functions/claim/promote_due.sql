-- What was due later and is due now takes its job's place on the ring: a page of it, the rest comes with the next claims.
create or replace function app.promote_due(pool app.ready_pool)
returns void
language plpgsql
as $$
begin
  update app.ready r
     set turn = app.ring_turn(s.job_id, s.stage_id)
    from app.stages s
   where s.stage_id = r.stage_id
     and r.ready_id = any (array(
       select q.ready_id
         from app.ready q
        where q.task_type = pool.task_type and q.tenant_id = pool.tenant_id and q.priority = pool.priority and q.turn = -1 and q.run_at <= now()
        order by q.run_at, q.ready_id
        limit 200
          for update skip locked));
end $$;
