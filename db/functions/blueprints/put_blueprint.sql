-- Saves a job type as data for a tenant. request: {tenant?, declaration, blueprint, actor?}. What is saved already stays as it is;
-- a change is the next version. Jobs keep the blueprint they were submitted with.
create or replace function app.put_blueprint(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 1000;
  -- All blueprints of a tenant together, which are listed at once.
  c_bytes constant bigint := 8388608;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_blueprint jsonb := (request -> 'blueprint')::jsonb;
  v_declaration jsonb := (request -> 'declaration')::jsonb;
  v_type text := v_blueprint ->> 'type';
  v_last app.saved_blueprints;
  v_new boolean;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(v_blueprint), app.refuse_wild_numbers(v_declaration);
  end if;
  perform app.refuse_problems('the blueprint', app.blueprint_problems(v_blueprint));
  perform app.lock_named(v_tenant || ' blueprint ' || v_type);
  select * into v_last from app.saved_blueprints b
   where b.tenant_id = v_tenant and b.job_type = v_type order by b.version desc limit 1;
  v_new := v_last.version is null or v_last.removed_at is not null;
  if v_new and (
    select count(*) from app.saved_blueprints b where b.tenant_id = v_tenant and b.removed_at is null and not exists (
      select from app.saved_blueprints n where n.tenant_id = v_tenant and n.job_type = b.job_type and n.version > b.version)) >= c_most then
    raise exception 'a tenant saves at most % job types', c_most using errcode = 'FF009', hint = 'remove one that is not used any more';
  end if;
  if v_new or v_last.declaration <> v_declaration or v_last.blueprint <> v_blueprint then
    if octet_length(v_declaration::text) > 1048576 then
      raise exception 'the declaration is larger than 1 MB' using errcode = 'FF004', hint = 'declare less, or put it into parameters and storage';
    end if;
    if octet_length(v_blueprint::text) + (
      select coalesce(sum(octet_length(b.blueprint::text)), 0) from app.saved_blueprints b
       where b.tenant_id = v_tenant and b.job_type <> v_type and b.removed_at is null and not exists (
         select from app.saved_blueprints n where n.tenant_id = v_tenant and n.job_type = b.job_type and n.version > b.version)) > c_bytes then
      raise exception 'the job types that a tenant saves come to at most % bytes', c_bytes
        using errcode = 'FF009', hint = 'remove one that is not used any more, or describe less';
    end if;
    insert into app.saved_blueprints (tenant_id, job_type, version, declaration, blueprint, saved_by)
    values (v_tenant, v_type, coalesce(v_last.version, 0) + 1, v_declaration, v_blueprint, coalesce(left(request ->> 'actor', 200), session_user));
    perform app.note(v_tenant, 'blueprint.saved', null, null, null,
      jsonb_build_object('job_type', v_type, 'version', coalesce(v_last.version, 0) + 1), request ->> 'actor');
    return json_build_object('created', v_new, 'changed', true);
  end if;
  return json_build_object('created', false, 'changed', false);
end $$;
grant execute on function app.put_blueprint(json) to fanfold_api, fanfold_admin;
