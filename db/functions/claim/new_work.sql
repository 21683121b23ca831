-- For those who hear no NOTIFY (behind a pooler): which of these types have got something to run since a look before, and where the
-- next look begins. While nothing comes it is one probe at the end of an index. Like a hint it may miss something (of two that were
-- written at once, the one with the lower number that committed later): whoever asks claims now and then all the same.
create or replace function app.new_work(types json, after bigint)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
as $$
declare
  c_most constant integer := 1000;
  v_tenant text := app.worker_tenant();
  v_reply json;
begin
  select json_build_object(
      'last', coalesce(max(n.ready_id), after),
      'types', coalesce(json_agg(distinct n.task_type) filter (
        where n.task_type in (select t from json_array_elements_text(types) t) and n.run_at <= now() and (v_tenant is null or n.tenant_id = v_tenant)), '[]'::json))
    into v_reply
    from (select r.ready_id, r.task_type, r.run_at, r.tenant_id from app.ready r where r.ready_id > after order by r.ready_id desc limit c_most) n;
  return v_reply;
end $$;
grant execute on function app.new_work(json, bigint) to fanfold_worker, fanfold_admin;
