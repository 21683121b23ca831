-- A session or a link of a key. Makes room first: what has ended goes, some of it at each call, and of one key's only so many stay
-- that nobody fills the table.
create or replace function app.add_session(key app.api_keys, token_hash bytea, kind text)
returns app.sessions
language plpgsql
as $$
declare
  c_most constant integer := 100;
  v_session app.sessions;
begin
  delete from app.sessions s
   where s.token_hash in (
     select e.token_hash from app.sessions e where e.expires_at < now() order by e.expires_at limit c_most for update skip locked);
  delete from app.sessions s
   where s.token_hash in (
     select o.token_hash
       from app.sessions o
      where o.key_id = key.key_id and o.kind = add_session.kind
      order by o.created_at desc offset c_most - 1
        for update skip locked);
  insert into app.sessions (token_hash, tenant_id, key_id, kind, expires_at)
  values (add_session.token_hash, key.tenant_id, key.key_id, add_session.kind, app.session_end(add_session.kind, now(), now()))
  returning * into v_session;
  return v_session;
end $$;
