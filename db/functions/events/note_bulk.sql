-- Writes down that somebody acts on all jobs that fit a filter, once for all of them; each job's own event follows from its verb.
-- request: {tenant?, action, filter, before, reason?, actor?}
create or replace function app.note_bulk(request json)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.note(app.acting_tenant(request ->> 'tenant'), 'jobs.bulk', null, null, request ->> 'reason',
    jsonb_build_object('action', request ->> 'action', 'filter', (request -> 'filter')::jsonb, 'before', request ->> 'before'),
    request ->> 'actor');
end $$;
grant execute on function app.note_bulk(json) to fanfold_api, fanfold_admin;
