-- Nobody hands out more than they have. `may` is what the caller of the service may do, {scopes, operator}; null is somebody with
-- the database itself at hand.
create or replace function app.assert_may_hand_out(may json, scopes text[], operator boolean)
returns void
language plpgsql stable
as $$
declare
  v_lacking text;
begin
  if operator and (not app.is_server() or (may is not null and (may ->> 'operator')::boolean is not true)) then
    raise exception 'only an operator handles keys of operators'
      using errcode = 'FF005', hint = 'with the database at hand', detail = app.action('keys.create_operator');
  end if;
  if may is null then
    return;
  end if;
  select string_agg(s, ', ' order by s) into v_lacking
    from unnest(scopes) s
   where not coalesce((may -> 'scopes')::jsonb ? s, false);
  if v_lacking is not null then
    raise exception 'a key hands out only scopes that it has itself; yours lacks %', v_lacking
      using errcode = 'FF005', hint = 'ask somebody whose key has them';
  end if;
end $$;
