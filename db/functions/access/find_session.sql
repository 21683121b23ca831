-- For the server: the session of a token, by its hash (hex), or null. Whether its key may still be used is asked beside it.
create or replace function app.find_session(token_hash text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.assert_server('look up sessions');
  return (
    select app.session_record(s)
      from app.sessions s
     where s.token_hash = decode(find_session.token_hash, 'hex') and s.kind = 'session' and s.expires_at > now());
end $$;
grant execute on function app.find_session(text) to fanfold_api, fanfold_admin;
