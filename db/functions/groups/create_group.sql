-- Opens a group before its first job. request: {tenant?, group_id, name?, expected?, actor?}. Asking for the same twice changes nothing.
create or replace function app.create_group(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_id text := request ->> 'group_id';
  v_group app.job_groups;
  v_created boolean;
  v_problems jsonb;
begin
  select jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix))
    into v_problems
    from (values
      ('group_id', 'not a short word', 'letters, digits and . _ : - in at most 100 characters', coalesce(v_id !~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$', true)),
      ('name', app.shown_problem(request ->> 'name', 200), 'what people call it', app.shown_problem(request ->> 'name', 200) is not null),
      ('expected', 'not a whole number from 1 to 1,000,000,000', 'how many jobs it will have, or leave it out', coalesce(request ->> 'expected', '1') !~ '^[1-9][0-9]{0,8}$')
    ) as c(field, problem, fix, bad)
   where c.bad;
  perform app.refuse_problems('the group', v_problems);
  insert into app.job_groups (tenant_id, group_id, name, expected, created_by)
  values (v_tenant, v_id, request ->> 'name', (request ->> 'expected')::integer, coalesce(left(request ->> 'actor', 200), session_user))
  on conflict do nothing;
  v_created := found;
  v_group := app.find_group(v_tenant, v_id);
  if v_created then
    perform app.note(v_tenant, 'group.created', null, null, null,
      jsonb_build_object('group_id', v_id, 'name', v_group.name, 'expected', v_group.expected), request ->> 'actor');
  elsif v_group.expected is distinct from (request ->> 'expected')::integer or v_group.name is distinct from request ->> 'name' then
    raise exception 'group "%" exists already, with another name or number of jobs', v_id
      using errcode = 'FF003', hint = 'use another group_id; look at the group that has it', detail = app.action('groups.get', group_id => v_id);
  end if;
  return json_build_object('created', v_created, 'group', app.group_record(v_group));
end $$;
grant execute on function app.create_group(json) to fanfold_api, fanfold_admin;
