-- One page of a stage's completed results, by ordinal, bounded in rows and bytes (at least one row, whatever its size).
create or replace function app.read_results(stage bigint, from_ordinal bigint, to_ordinal bigint, page_rows integer, page_bytes bigint default 4194304)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_items json;
  v_last bigint;
  v_more boolean;
  v_tenant text := (select s.tenant_id from app.stages s where s.stage_id = stage);
begin
  if v_tenant is null or v_tenant is distinct from coalesce(app.worker_tenant(), v_tenant) then
    raise exception 'there is no stage %', stage using errcode = 'FF001';
  end if;
  with page as (
    select r.ordinal, r.result, r.spill, r.next_stage_params,
      sum(coalesce(octet_length(r.result::text), 0) + coalesce(octet_length(r.next_stage_params::text), 0) + 32) over (order by r.ordinal) as bytes,
      row_number() over (order by r.ordinal) as n
    from (
      select * from app.results q
       where q.stage_id = stage and q.ordinal >= from_ordinal and q.ordinal < coalesce(to_ordinal, 9223372036854775807)
         and q.status = 'completed'
       order by q.ordinal
       limit least(greatest(page_rows, 1), 10000) + 1
    ) r
  ),
  kept as (
    select * from page p where p.n <= least(greatest(page_rows, 1), 10000) and (p.bytes <= page_bytes or p.n = 1)
  )
  select
    coalesce(json_agg(json_build_object('ordinal', k.ordinal, 'index', coalesce(t.index, k.ordinal::text), 'result', k.result,
      'spill', k.spill, 'next_stage_params', k.next_stage_params) order by k.ordinal), '[]'),
    max(k.ordinal), (select count(*) from page) > count(*)
  into v_items, v_last, v_more
  from kept k
  left join lateral (select t.index from app.tasks t where t.stage_id = stage and t.ordinal = k.ordinal offset 0) t on true;
  return json_build_object('items', v_items, 'next', case when v_more then v_last + 1 end);
end $$;
grant execute on function app.read_results(bigint, bigint, bigint, integer, bigint) to fanfold_worker, fanfold_api, fanfold_admin;
