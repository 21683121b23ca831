-- Workers that ended long ago. They belong to no tenant in particular, so the rule is everybody's.
create or replace function app.retire_workers()
returns jsonb
language plpgsql
as $$
declare
  c_page constant integer := 1000;
  v_until constant timestamptz := now() - make_interval(secs => (app.retention_rule('', 'workers')).keep_s);
  v_removed integer;
begin
  delete from app.workers w where w.worker_id = any (array(
    select k.worker_id
      from app.workers k
     where k.status <> 'live' and k.heartbeat_at < v_until and coalesce(k.ended_at, k.heartbeat_at) < v_until
       and not exists (select from app.claims c where c.worker_id = k.worker_id)
       and not exists (select from app.work_counts c where c.worker_id = k.worker_id)
     limit c_page
       for update skip locked));
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed, 'next', case when v_removed = c_page then '[]'::jsonb end);
end $$;
