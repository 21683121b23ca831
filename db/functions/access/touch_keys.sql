-- For the server: these keys have just been used. At most one write for each key and minute, however often it is used.
create or replace function app.touch_keys(key_ids json)
returns integer
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_touched integer;
begin
  perform app.assert_server('say when keys were used');
  -- By ascending id, so that two servers wait for each other and never in a circle; what another holds is being written anyway.
  update app.api_keys k
     set last_used_at = now()
    from (
      select u.key_id
        from app.api_keys u
       where u.key_id in (select json_array_elements_text(touch_keys.key_ids))
         and coalesce(u.last_used_at <= now() - interval '1 minute', true)
       order by u.key_id
         for update skip locked
    ) due
   where k.key_id = due.key_id;
  get diagnostics v_touched = row_count;
  return v_touched;
end $$;
grant execute on function app.touch_keys(json) to fanfold_api, fanfold_admin;
