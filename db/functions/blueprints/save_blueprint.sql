-- Keeps a snapshot of a blueprint and returns its hash. The same content is one row, so a submit usually writes nothing here.
create or replace function app.save_blueprint(tenant text, blueprint jsonb)
returns text
language plpgsql
as $$
declare
  v_hash text;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(blueprint);
  end if;
  v_hash := encode(sha256(convert_to(blueprint::text, 'UTF8')), 'hex');
  if exists (select from app.blueprints where tenant_id = tenant and blueprint_hash = v_hash) then
    return v_hash;
  end if;
  perform app.refuse_problems('the blueprint', app.blueprint_problems(blueprint));
  insert into app.blueprints (tenant_id, blueprint_hash, job_type, blueprint)
  values (tenant, v_hash, blueprint ->> 'type', blueprint)
  on conflict do nothing;
  perform app.keep_stages(tenant, v_hash);
  return v_hash;
end $$;
