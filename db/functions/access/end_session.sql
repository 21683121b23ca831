-- For the server: ends the session of a token, by its hash (hex). false: there was none.
create or replace function app.end_session(token_hash text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.assert_server('end sessions');
  delete from app.sessions s where s.token_hash = decode(end_session.token_hash, 'hex') and s.kind = 'session';
  return found;
end $$;
grant execute on function app.end_session(text) to fanfold_api, fanfold_admin;
