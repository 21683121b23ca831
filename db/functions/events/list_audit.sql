-- Who did what and when, newest first: the events of a tenant that a person or a key caused, not what the engine did by itself.
-- request: {tenant?, rows?, cursor?, actor?, kind?, job_id?, after?, before?, submits?: false leaves submits out}. `kind` is one kind, or
-- the beginning of several with its dot. A page looks at a bounded number of events: it may be short and have a `next` all the same.
create or replace function app.list_audit(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_examined constant integer := 20000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_rows integer := app.page_rows((request ->> 'rows')::integer);
  v_actor text := request ->> 'actor';
  v_base text collate "C" := split_part(request ->> 'actor', ' (', 1);
  v_kind text := request ->> 'kind';
  v_job text;
  v_after timestamptz := (request ->> 'after')::timestamptz;
  v_before timestamptz := (request ->> 'before')::timestamptz;
  v_low bigint := 0;
  v_high bigint;
  v_submits boolean;
  v_others boolean;
  -- Those who act for the engine: what they did without a name was not a person's doing.
  v_engine text[];
  v_event app.events;
  v_left integer := c_examined;
  v_chunk integer;
  v_seen integer;
  v_ids bigint[] := '{}'::bigint[];
  v_next bigint;
begin
  perform app.assert_cursor(request ->> 'cursor', '^\d{1,18}$');
  v_high := coalesce((request ->> 'cursor')::bigint, 9223372036854775807);
  if request ->> 'job_id' is not null then
    v_job := (app.find_job(v_tenant, request ->> 'job_id')).job_id;
  end if;
  if v_before is not null then
    v_high := least(v_high, app.event_of_time(v_before, true));
  end if;
  if v_after is not null then
    v_low := app.event_of_time(v_after, false);
  end if;
  v_submits := coalesce((request ->> 'submits')::boolean, true) and (v_kind is null or 'job.submitted' = v_kind or (v_kind like '%.' and starts_with('job.submitted', v_kind)));
  v_others := v_kind is distinct from 'job.submitted';
  v_engine := array(select r.role_name::text from app.tenant_roles r where r.tenant_id is null) || session_user::text;

  v_chunk := v_rows + 1;
  loop
    v_seen := 0;
    for v_event in
      -- Compared and ordered as one index has it and no other: by the primary key a small tenant's page would read everybody's events.
      (select e.* from app.events e
        where v_job is not null
          and (e.tenant_id, e.job_id, e.event_id) < (v_tenant, v_job, v_high) and (e.tenant_id, e.job_id, e.event_id) > (v_tenant, v_job, v_low)
        order by e.tenant_id desc, e.job_id desc, e.event_id desc
        limit v_chunk)
      union all
      -- With the submits of everybody: about every fifth event is one, so the events themselves are as good as an index of them.
      (select e.* from app.events e
        where v_job is null and v_actor is null and v_submits
          and (e.tenant_id, e.event_id) < (v_tenant, v_high) and (e.tenant_id, e.event_id) > (v_tenant, v_low)
        order by e.tenant_id desc, e.event_id desc
        limit v_chunk)
      union all
      (select e.* from app.events e
        where v_job is null and v_actor is null and not v_submits and e.tenant_id = v_tenant and -e.event_id > -v_high and -e.event_id < -v_low
          and e.audit
        order by -e.event_id
        limit v_chunk)
      union all
      (select e.* from app.events e
        where v_job is null and v_actor is not null and v_others and e.tenant_id = v_tenant and -e.event_id > -v_high and -e.event_id < -v_low
          and split_part(e.actor, ' (', 1) collate "C" = v_base
          and e.audit
        order by -e.event_id
        limit v_chunk)
      union all
      (select e.* from app.events e
        where v_job is null and v_actor is not null and v_submits and e.tenant_id = v_tenant and -e.event_id > -v_high and -e.event_id < -v_low
          and split_part(e.actor, ' (', 1) collate "C" = v_base and e.kind = 'job.submitted'
        order by -e.event_id
        limit v_chunk)
      order by event_id desc
      limit v_chunk
    loop
      v_seen := v_seen + 1;
      v_high := v_event.event_id;
      continue when not (
        app.is_audited(v_event, v_engine)
        and (v_submits or v_event.kind <> 'job.submitted')
        and (v_kind is null or v_event.kind = v_kind or (v_kind like '%.' and starts_with(v_event.kind, v_kind)))
        and (v_actor is null or v_event.actor = v_actor or (v_actor = v_base and split_part(v_event.actor, ' (', 1) = v_base))
        and (v_after is null or v_event.at >= v_after)
        and (v_before is null or v_event.at < v_before));
      if cardinality(v_ids) = v_rows then
        v_next := v_ids[v_rows];
        exit;
      end if;
      v_ids := v_ids || v_event.event_id;
    end loop;
    exit when v_next is not null or v_seen < v_chunk;
    v_left := v_left - v_seen;
    if v_left <= 0 then
      v_next := v_high;
      exit;
    end if;
    v_chunk := least(v_chunk * 4, 2000, v_left);
  end loop;
  return json_build_object(
    'deeds', coalesce((
      select json_agg(app.audit_record(e) order by i.place)
        from unnest(v_ids) with ordinality as i(event_id, place)
        join app.events e on e.event_id = i.event_id), '[]'),
    'next', v_next::text);
end $$;
grant execute on function app.list_audit(json) to fanfold_api, fanfold_admin;
