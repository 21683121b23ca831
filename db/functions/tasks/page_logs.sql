-- Lines that a task logged, always oldest first. request: {tenant?, task_id, attempt?, level?: at least so grave, text?: in the message
-- or its data, after? | before?: ids of lines, rows?}. With neither it is the newest page. A page looks at 20,000 lines at most, so with
-- a text that few have it may be short and have more. `newer` is where to go on for what is logged next, `older` where there is more
-- before; null: there is nothing.
create or replace function app.page_logs(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_examined constant integer := 20000;
  c_levels constant text[] := array['debug', 'info', 'warn', 'error'];
  v_found record := app.find_task(app.acting_tenant(request ->> 'tenant'), request ->> 'task_id');
  v_stage app.stages := v_found.stage;
  v_attempt integer := (request ->> 'attempt')::integer;
  v_least integer := coalesce(array_position(c_levels, request ->> 'level'), 1);
  v_text text := lower(nullif(request ->> 'text', ''));
  v_after bigint := (request ->> 'after')::bigint;
  v_before bigint := case when request ->> 'after' is null then coalesce((request ->> 'before')::bigint, 9223372036854775807) end;
  v_rows integer := app.page_rows((request ->> 'rows')::integer, 200);
  v_line app.task_logs;
  v_lines json[] := '{}'::json[];
  v_looked integer := 0;
  v_first bigint;
  v_last bigint;
  v_more boolean := false;
  v_cursor refcursor;
begin
  if v_after is not null then
    open v_cursor for
      select * from app.task_logs l
       where l.stage_id = v_stage.stage_id and l.ordinal = v_found.ordinal and l.log_id > v_after
       order by l.log_id;
  else
    open v_cursor for
      select * from app.task_logs l
       where l.stage_id = v_stage.stage_id and l.ordinal = v_found.ordinal and l.log_id < v_before
       order by l.log_id desc;
  end if;
  loop
    fetch v_cursor into v_line;
    exit when not found;
    if cardinality(v_lines) = v_rows or v_looked = c_examined then
      v_more := true;
      exit;
    end if;
    v_looked := v_looked + 1;
    v_first := coalesce(v_first, v_line.log_id);
    v_last := v_line.log_id;
    continue when v_attempt <> v_line.attempt or array_position(c_levels, v_line.level) < v_least
      or (v_text is not null and strpos(lower(v_line.message), v_text) = 0 and strpos(lower(coalesce(v_line.data::text, '')), v_text) = 0);
    v_lines := v_lines || json_build_object('log_id', v_line.log_id, 'at', v_line.at, 'attempt', v_line.attempt, 'level', v_line.level,
      'message', v_line.message, 'data', v_line.data);
  end loop;
  close v_cursor;
  if v_after is not null then
    return json_build_object('task_id', (v_found.stage).stage_id || '-' || v_found.ordinal, 'lines', array_to_json(v_lines), 'looked_at', v_looked,
      'older', null, 'newer', coalesce(v_last, v_after)::text, 'more', v_more);
  end if;
  return json_build_object('task_id', (v_found.stage).stage_id || '-' || v_found.ordinal, 'looked_at', v_looked,
    'lines', (select coalesce(json_agg(u.line order by u.position desc), '[]') from unnest(v_lines) with ordinality u(line, position)),
    'older', case when v_more then v_last::text end, 'newer', coalesce(v_first, 0)::text, 'more', v_more);
end $$;
grant execute on function app.page_logs(json) to fanfold_api, fanfold_admin;
