-- The live workers that may be given tasks of this tenant and type (null: of any type). One that drains takes nothing more.
create or replace function app.serving_workers(tenant text, type text)
returns setof app.workers
language sql stable
as $$
  select w.*
    from app.workers w
   where w.status = 'live' and w.draining_at is null and app.is_alive(w) and (w.tenant_id is null or w.tenant_id = tenant) and (type is null or type = any (w.types))
$$;
