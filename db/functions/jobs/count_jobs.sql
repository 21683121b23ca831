-- How many jobs of the tenant fit a filter, by status. request: what read_job_filter knows, and {tenant?}. By type and status alone
-- what has ended is read from the tallies, and is exact however much there is; open jobs are counted in their index, up to 200,000.
-- Any other filter is held against at most 50,000 jobs of each kind (open, badly ended, completed), a quarter of a second in all:
-- `at_least` names the statuses of which there may be more.
create or replace function app.count_jobs(request json default '{}')
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_open constant integer := 200000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  f app.job_filter := app.read_job_filter(v_tenant, request);
  v_by_tallies boolean;
  v_part text;
  v_counts bigint[] := array_fill(0::bigint, array[6]);
  v_full boolean;
  v_at_least app.job_status[] := '{}'::app.job_status[];
  v_all constant app.job_status[] := enum_range(null::app.job_status);
  v_examined bigint := 0;
  v_some record;
begin
  v_by_tallies := row(f.words, f.id, f.error, f.correlation_id, f.group_id, f.labels, f.label_keys) is null
    and row(f.created_after, f.created_before, f.finished_after, f.finished_before, f.priority_from, f.priority_to) is null
    and row(f.paused, f.waiting, f.approval, f.among) is null;
  if v_by_tallies then
    for v_some in
      select t.status, sum(t.amount) as amount
        from app.job_tallies t
       where t.tenant_id = v_tenant and (f.types is null or t.job_type = any (f.types)) and (f.statuses is null or t.status = any (f.statuses))
       group by t.status
    loop
      v_counts[array_position(v_all, v_some.status)] := v_some.amount;
    end loop;
    for v_some in
      select o.status, count(*) filter (where f.types is null or o.job_type = any (f.types)) as amount, sum(count(*)) over () as looked_at
        from (
          select j.status, j.job_type from app.jobs j
           where j.tenant_id = v_tenant and j.finished_at is null order by j.created_at desc, j.job_id limit c_open) o
       group by o.status
    loop
      v_examined := v_some.looked_at;
      v_full := v_examined >= c_open;
      continue when f.statuses is not null and v_some.status <> all (f.statuses);
      v_counts[array_position(v_all, v_some.status)] := v_some.amount;
    end loop;
    v_at_least := case when v_full then array(
      select s from unnest('{queued,processing}'::app.job_status[]) s where f.statuses is null or s = any (f.statuses)) else '{}' end;
  else
    -- Jobs that an index names by what is asked are looked at together; others kind by kind, since each kind has an index.
    for v_part in
      select unnest(case when f.source in ('none', 'among', 'id', 'correlation', 'group', 'paused', 'waiting')
        then array['{queued,processing,completed,partial_success,failed,cancelled}']
        else array['{queued,processing}', '{partial_success,failed,cancelled}', '{completed}'] end)
    loop
      select c.counts, c.is_full, c.examined into v_some from app.count_candidates(v_tenant, f, v_part::app.job_status[]) c;
      v_counts := array(select a + b from unnest(v_counts, v_some.counts) as n(a, b));
      v_examined := v_examined + v_some.examined;
      if v_some.is_full then
        v_at_least := v_at_least || array(
          select s from unnest(v_part::app.job_status[]) s where f.statuses is null or s = any (f.statuses));
      end if;
    end loop;
  end if;
  return json_build_object(
    'counts', (select json_object_agg(s.status, s.amount) from unnest(v_all, v_counts) as s(status, amount)),
    'at_least', to_json(v_at_least), 'examined', v_examined, 'now', now());
end $$;
grant execute on function app.count_jobs(json) to fanfold_api, fanfold_admin;
