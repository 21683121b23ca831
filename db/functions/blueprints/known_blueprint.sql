-- The job type of this name: as a worker has it in code, else as the tenant saved it.
create or replace function app.known_blueprint(tenant text, job_type text)
returns jsonb
language plpgsql stable
as $$
declare
  v_blueprint jsonb;
begin
  select r.blueprint into v_blueprint
    from app.registered_blueprints r
   where r.tenant_id in (known_blueprint.tenant, '') and r.job_type = known_blueprint.job_type
   order by r.tenant_id desc limit 1;
  if v_blueprint is null then
    select case when s.removed_at is null then s.blueprint end into v_blueprint
      from app.saved_blueprints s
     where s.tenant_id = known_blueprint.tenant and s.job_type = known_blueprint.job_type
     order by s.version desc limit 1;
  end if;
  if v_blueprint is null then
    raise exception 'there is no job type "%"', left(coalesce(known_blueprint.job_type, 'null'), 80)
      using errcode = 'FF001', hint = 'workers register theirs when they start, others are saved; list them', detail = app.action('blueprints.list');
  end if;
  return v_blueprint;
end $$;
