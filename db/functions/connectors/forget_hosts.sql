-- Removes what nobody has called for a day, a few at a time, when something new is called: their number stays that of a day.
create or replace function app.forget_hosts(tenant text)
returns void
language sql
as $$
  delete from app.host_states h
   where (h.tenant_id, h.scope) in (
     select s.tenant_id, s.scope from app.host_states s
      where s.tenant_id = tenant and s.used_at < now() - interval '1 day'
        and coalesce(s.wait_until, s.open_until, s.used_at) < now()
        and not exists (select from app.host_slots l where l.tenant_id = s.tenant_id and l.scope = s.scope)
      order by s.used_at
      limit 20
        for update of s skip locked)
$$;
