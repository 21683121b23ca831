-- Makes a schedule, or replaces what there is under its name. request: {tenant?, name, description?, cron, time_zone, job_type,
-- parameters, options, missed, next_at, if_version?, actor?}; `next_at` is the first time after now, which the caller has computed.
-- It counts only where the times change: otherwise those that are due stay due. if_version: 0 = only if there is none.
create or replace function app.put_schedule(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_actor text := coalesce(left(request ->> 'actor', 200), session_user);
  v_old app.schedules;
  v_new app.schedules;
  v_created boolean;
  v_problems jsonb;
begin
  if app.may_hold_wild_numbers(request::text) then
    perform app.refuse_wild_numbers(request::jsonb);
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix))
    into v_problems
    from (values
      ('name', 'not a short word', 'small letters, digits and _ . - in at most 63 characters', coalesce(request ->> 'name' !~ '^[a-z0-9][a-z0-9_.-]{0,62}$', true)),
      ('description', app.shown_problem(request ->> 'description', 500, true), 'one sentence', app.shown_problem(request ->> 'description', 500, true) is not null),
      ('cron', 'not 1 to 200 characters long', '0 6 * * *', coalesce(length(request ->> 'cron') not between 1 and 200, true)),
      ('time_zone', 'not 1 to 64 characters long', 'Europe/Zurich', coalesce(length(request ->> 'time_zone') not between 1 and 64, true)),
      ('job_type', 'not 1 to 63 characters long', 'the type of the jobs it submits', coalesce(length(request ->> 'job_type') not between 1 and 63, true)),
      ('parameters', 'not an object', '{}', coalesce(json_typeof(request -> 'parameters'), 'object') <> 'object'),
      ('options', 'not an object', '{}', coalesce(json_typeof(request -> 'options'), 'object') <> 'object'),
      ('parameters', 'larger than 256 KB', 'keep them elsewhere, and name where', octet_length((request -> 'parameters')::text) > 262144),
      ('options', 'larger than 64 KB', '{}', octet_length((request -> 'options')::text) > 65536),
      ('missed', 'not skip, one or all', 'one', coalesce(request ->> 'missed', 'one') not in ('skip', 'one', 'all'))
    ) as c(field, problem, fix, bad)
   where c.bad;
  perform app.refuse_problems('the schedule', v_problems);
  select * into v_old from app.schedules s where s.tenant_id = v_tenant and s.name = request ->> 'name' for update;
  v_created := not found;
  if coalesce((request ->> 'if_version')::integer, coalesce(v_old.version, 0)) <> coalesce(v_old.version, 0) then
    raise exception 'schedule "%" %', request ->> 'name', case when v_created then 'does not exist' else 'was changed meanwhile, or exists already' end
      using errcode = 'FF003', hint = 'look at it again', detail = app.action('schedules.get', name => request ->> 'name');
  end if;
  if v_created then
    -- Two that are made at once are counted one after the other.
    perform app.lock_named(v_tenant || ' schedules');
    if (select count(*) from app.schedules s where s.tenant_id = v_tenant) >= c_most then
      raise exception 'a tenant has at most % schedules', c_most using errcode = 'FF009', hint = 'delete one that is not used';
    end if;
  end if;
  insert into app.schedules as s (
    tenant_id, name, description, cron, time_zone, job_type, parameters, options, missed, next_at, created_by, updated_by)
  values (
    v_tenant, request ->> 'name', request ->> 'description', request ->> 'cron', request ->> 'time_zone', request ->> 'job_type',
    coalesce((request -> 'parameters')::jsonb, '{}'), coalesce((request -> 'options')::jsonb, '{}'), coalesce(request ->> 'missed', 'one'),
    -- What was due before it was made nobody missed.
    case when request ->> 'next_at' is not null then greatest((request ->> 'next_at')::timestamptz, now()) end, v_actor, v_actor)
  on conflict (tenant_id, name) do update
     set description = excluded.description, cron = excluded.cron, time_zone = excluded.time_zone, job_type = excluded.job_type,
         parameters = excluded.parameters, options = excluded.options, missed = excluded.missed,
         next_at = case when (s.cron, s.time_zone) = (excluded.cron, excluded.time_zone) then s.next_at else excluded.next_at end,
         version = s.version + 1, updated_at = now(), updated_by = excluded.updated_by
  returning * into v_new;
  -- Another made it between our look and our insert.
  if v_created and v_new.version > 1 then
    v_created := false;
    if request ->> 'if_version' is not null then
      raise exception 'schedule "%" was changed meanwhile, or exists already', request ->> 'name'
        using errcode = 'FF003', hint = 'look at it again', detail = app.action('schedules.get', name => request ->> 'name');
    end if;
  end if;
  perform app.note(v_tenant, case when v_created then 'schedule.created' else 'schedule.changed' end, null, null, null,
    jsonb_build_object('schedule', v_new.name, 'cron', v_new.cron, 'time_zone', v_new.time_zone, 'job_type', v_new.job_type), request ->> 'actor');
  return json_build_object('created', v_created, 'schedule', app.schedule_record(v_new));
end $$;
grant execute on function app.put_schedule(json) to fanfold_api, fanfold_admin;
