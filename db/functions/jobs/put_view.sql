-- Saves a view under its name, in place of what there is. The filter is checked by the caller: SQL only keeps it.
create or replace function app.put_view(name text, query text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 200;
  v_tenant text := app.acting_tenant(tenant);
  v_actor text := coalesce(left(actor, 200), session_user);
  v_view app.saved_views;
begin
  perform app.refuse_problems('the view', (
    select jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix))
      from (values
        ('name', app.shown_problem(coalesce(put_view.name, ''), 60), 'one line that people can read, e.g. "Failed today"'),
        ('query', case when coalesce(length(put_view.query) > 2000, true) then 'not at most 2000 characters long' end, 'a shorter filter')
      ) as c(field, problem, fix)
     where c.problem is not null));
  -- Two that are made at once are counted one after the other.
  perform app.lock_named(v_tenant || ' views');
  if (select count(*) from app.saved_views v where v.tenant_id = v_tenant and v.name <> put_view.name) >= c_most then
    raise exception 'a tenant has at most % views', c_most using errcode = 'FF009', hint = 'delete one that is not used';
  end if;
  insert into app.saved_views as v (tenant_id, name, query, created_by, updated_by)
  values (v_tenant, put_view.name, put_view.query, v_actor, v_actor)
  on conflict on constraint saved_views_pkey do update
     set query = excluded.query, updated_at = now(), updated_by = excluded.updated_by
  returning * into v_view;
  perform app.note(v_tenant, 'view.saved', null, null, null, jsonb_build_object('name', v_view.name, 'query', v_view.query), actor);
  return app.view_record(v_view);
end $$;
grant execute on function app.put_view(text, text, text, text) to fanfold_api, fanfold_admin;
