-- The hash of a job type as it is now. `known`: what the caller believes it to be, who has it in code.
create or replace function platform.blueprint_of(tenant text, job_type text, known text)
returns text
language plpgsql
as $$
begin
  if known is not null and exists (
    select from app.blueprints b where b.tenant_id = tenant and b.blueprint_hash = known and b.job_type = blueprint_of.job_type) then
    return known;
  end if;
  return app.save_blueprint(tenant, app.known_blueprint(tenant, job_type));
end $$;
