-- A session as the server needs it: whose rights it has, and for how long.
create or replace function app.session_record(session app.sessions)
returns json
language sql stable
as $$
  select json_build_object(
    'tenant_id', session.tenant_id, 'key_id', session.key_id, 'created_at', session.created_at, 'expires_at', session.expires_at,
    'usable_for_s', extract(epoch from session.expires_at - now()))
$$;
