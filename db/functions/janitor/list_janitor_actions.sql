-- What the janitor did to the tenant's work, newest first, in pages: `before` is the `next` of the page before.
create or replace function app.list_janitor_actions(page_rows integer default 50, before bigint default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
begin
  return (
    with page as (
      select t.*, row_number() over (order by t.event_id desc) as place
        from (
          select * from app.janitor_actions a
           where a.tenant_id = v_tenant and a.event_id < coalesce(before, 9223372036854775807)
           order by a.event_id desc
           limit v_rows + 1
        ) t
    )
    select json_build_object(
        'actions', coalesce(json_agg(json_build_object('event_id', a.event_id, 'at', a.at, 'run_id', a.run_id, 'action', a.action,
          'target', a.target, 'reason', a.reason, 'job_id', a.job_id, 'stage_id', a.stage_id,
          'data', coalesce(a.data - 'run_id' - 'target', '{}')) order by a.event_id desc)
          filter (where a.place <= v_rows), '[]'),
        'next', case when count(*) > v_rows then (min(a.event_id) filter (where a.place <= v_rows))::text end)
      from page a);
end $$;
grant execute on function app.list_janitor_actions(integer, bigint, text) to fanfold_api, fanfold_admin;
