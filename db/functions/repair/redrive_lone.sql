-- Queues failed tasks that stand alone again, those that fit a filter; at once, or not before `run_at`. A page of failures is looked at: `next` goes
-- on after it, null at the end. Deliveries and plans have verbs of their own: they are touched only when their type is named.
create or replace function app.redrive_lone(
  filter json, run_at timestamptz default null, cursor text default null, page_rows integer default 1000, reason text default null,
  dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_wanted constant jsonb := app.redrive_wanted(filter, run_at);
  v_rows constant integer := app.page_rows(page_rows);
  v_after bigint[];
  v_found record;
  v_stage app.stages;
  v_row record;
  v_bytes integer;
begin
  perform app.assert_cursor(cursor, '^[0-9]{1,18}-[0-9]{1,18}$');
  v_after := case when cursor is null then array[-1, -1] else string_to_array(cursor, '-')::bigint[] end;
  select count(*) as looked, max(l.stage_id) as stage_id, (array_agg(l.ordinal order by l.stage_id desc, l.ordinal desc))[1] as ordinal,
      count(*) filter (where l.fits) as again, coalesce(jsonb_agg(jsonb_build_array(l.stage_id, l.ordinal)) filter (where l.fits), '[]') as fitting
    into v_found
    from (
      select s.stage_id, f.ordinal, app.is_redriven(v_wanted, f.error, f.finished_at) as fits
        from (
          select q.stage_id from app.stages q
           where q.tenant_id = v_tenant and q.job_id is null and q.stage_id >= v_after[1] and case
             when v_wanted ? 'task_type' then q.task_type = v_wanted ->> 'task_type'
             else q.task_type <> 'connector.webhook.deliver' and q.task_type not like 'platform.plan.%' end
           order by q.stage_id) s
        cross join lateral (
          select r.ordinal, r.error, r.finished_at from app.results r
           where r.stage_id = s.stage_id and r.status = 'failed' and (r.stage_id, r.ordinal) > (v_after[1], v_after[2])
           order by r.ordinal limit v_rows) f
       order by s.stage_id, f.ordinal
       limit v_rows) l;
  if dry_run is not true and v_found.again > 0 then
    v_found.again := 0;
    for v_row in select (e ->> 0)::bigint as stage_id, array_agg((e ->> 1)::bigint) as ordinals from jsonb_array_elements(v_found.fitting) e group by 1 order by 1 loop
      select * into v_stage from app.stages s where s.stage_id = v_row.stage_id;
      -- Somebody else may be at one of them: that one is theirs.
      v_row.ordinals := array(
        select r.ordinal from app.results r
         where r.stage_id = v_row.stage_id and r.ordinal = any (v_row.ordinals) and r.status = 'failed' order by r.ordinal for update skip locked);
      continue when v_row.ordinals = '{}';
      perform app.put_results_back(v_stage, (select range_agg(int8range(o, o + 1)) from unnest(v_row.ordinals) o));
      select coalesce(max(octet_length(t.parameters::text)), 0) into v_bytes
        from app.tasks t where t.stage_id = v_row.stage_id and t.ordinal = any (v_row.ordinals);
      insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, task_bytes, turn)
      select v_stage.stage_id, lower(r), upper(r), v_tenant, v_stage.task_type, v_stage.priority, greatest(redrive_lone.run_at, now()), v_bytes,
          case when redrive_lone.run_at > now() then -1 else app.ring_turn(null, v_stage.stage_id) end
        from unnest((select range_agg(int8range(o, o + 1)) from unnest(v_row.ordinals) o)) r;
      v_found.again := v_found.again + cardinality(v_row.ordinals);
      perform app.note(v_tenant, 'task.retried', null, v_stage.stage_id, reason,
        jsonb_build_object('filter', v_wanted, 'tasks', cardinality(v_row.ordinals), 'run_at', run_at), actor);
      perform app.wake(array[v_stage.task_type]);
    end loop;
  end if;
  return json_build_object('again', v_found.again, 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_found.again > 0,
    'next', case when v_found.looked = v_rows then v_found.stage_id || '-' || v_found.ordinal end);
end $$;
grant execute on function app.redrive_lone(json, timestamptz, text, integer, text, boolean, text, text) to fanfold_api, fanfold_admin;
