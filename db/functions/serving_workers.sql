-- The live workers that may be given tasks of this tenant and type (null: of any type).
create or replace function app.serving_workers(tenant text, type text)
returns setof app.workers
language sql stable
as $$
  select w.*
    from app.workers w
   where w.status = 'live' and app.is_alive(w) and (w.tenant_id is null or w.tenant_id = tenant) and (type is null or type = any (w.types))
$$;
