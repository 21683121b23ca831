-- Sends the deliveries of an endpoint again that came to be in a span of time, oldest first, 20 a second. request: {tenant?,
-- endpoint_id, from?, to?, statuses? (failed and discarded when left out), dry_run?, actor?}. At most 10,000 a call: `more` says
-- that there are more, and `next_from` where to go on.
create or replace function app.replay_deliveries(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 10000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_endpoint text := (app.find_webhook(v_tenant, request ->> 'endpoint_id')).endpoint_id;
  v_dry boolean := coalesce((request ->> 'dry_run')::boolean, false);
  v_statuses text[] := case
    when json_typeof(request -> 'statuses') = 'array' then array(select s from json_array_elements_text(request -> 'statuses') s)
    else array['failed', 'discarded']
  end;
  v_ids text[];
  v_next timestamptz;
begin
  if not (app.is_time(request ->> 'from') and app.is_time(request ->> 'to')) then
    raise exception 'from and to are times' using errcode = 'FF002', hint = 'such as 2030-01-31T08:00:00Z';
  end if;
  if not v_statuses <@ array['pending', 'delivered', 'failed', 'discarded'] then
    raise exception 'a status of deliveries is unknown' using errcode = 'FF002', hint = 'pending, delivered, failed or discarded';
  end if;
  if not v_dry then
    perform app.assert_can_replay(v_tenant, v_endpoint);
  end if;
  select array_agg(f.delivery_id order by f.delivery_id) filter (where f.n <= c_most), min(f.created_at) filter (where f.n > c_most)
    into v_ids, v_next
    from (
      select d.delivery_id, d.created_at, row_number() over (order by d.delivery_id) as n
        from app.webhook_deliveries d
       where d.tenant_id = v_tenant and d.endpoint_id = v_endpoint and d.status = any (v_statuses)
         and d.created_at >= coalesce((request ->> 'from')::timestamptz, '-infinity')
         and d.created_at < coalesce((request ->> 'to')::timestamptz, 'infinity')
       order by d.delivery_id
       limit c_most + 1
    ) f;
  if not v_dry and v_ids is not null then
    perform app.begin_series(v_tenant, v_ids, 20);
    perform app.note(v_tenant, 'webhook.replayed', null, null, null,
      jsonb_build_object('endpoint_id', v_endpoint, 'deliveries', cardinality(v_ids), 'from', request ->> 'from', 'to', request ->> 'to'),
      request ->> 'actor');
  end if;
  return json_build_object('endpoint_id', v_endpoint, 'deliveries', coalesce(cardinality(v_ids), 0), 'dry_run', v_dry,
    'more', v_next is not null, 'next_from', v_next);
end $$;
grant execute on function app.replay_deliveries(json) to fanfold_api, fanfold_admin;
