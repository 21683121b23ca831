-- For the server: these sessions (hashes, hex) have just been used, and last the longer for it. At most one write for each session
-- and minute, however often it is used.
create or replace function app.touch_sessions(token_hashes json)
returns integer
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_touched integer;
begin
  perform app.assert_server('say when sessions were used');
  update app.sessions s
     set last_used_at = now(), expires_at = app.session_end(s.kind, s.created_at, now())
    from (
      select u.token_hash
        from app.sessions u
       where u.token_hash in (select decode(h, 'hex') from json_array_elements_text(touch_sessions.token_hashes) h)
         and u.kind = 'session' and u.expires_at > now() and u.last_used_at <= now() - interval '1 minute'
       order by u.token_hash
         for update skip locked
    ) due
   where s.token_hash = due.token_hash;
  get diagnostics v_touched = row_count;
  return v_touched;
end $$;
grant execute on function app.touch_sessions(json) to fanfold_api, fanfold_admin;
