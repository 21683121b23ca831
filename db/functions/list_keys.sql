-- Keys of the tenant, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_keys(page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := coalesce(page_rows, 50);
  v_before timestamptz := 'infinity'::timestamptz;
  v_before_id text := '';
begin
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  if cursor is not null then
    if cursor !~ '^\d{1,17}-[a-z0-9]{12}$' then
      raise exception 'the cursor is not one of ours' using errcode = 'FF002', hint = 'pass `next` of the page before, unchanged';
    end if;
    v_before := 'epoch'::timestamptz + split_part(cursor, '-', 1)::bigint * interval '1 microsecond';
    v_before_id := split_part(cursor, '-', 2);
  end if;
  return (
    with page as (
      select k.*
        from app.api_keys k
       where k.tenant_id = v_tenant and (k.created_at, k.key_id) < (v_before, v_before_id)
       order by k.created_at desc, k.key_id desc
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, key_id desc limit v_rows)
    select json_build_object(
      'keys', coalesce((
        select json_agg(app.key_record(k) order by k.created_at desc, k.key_id desc)
          from shown s join app.api_keys k on k.key_id = s.key_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.key_id
          from shown l order by l.created_at, l.key_id limit 1) end));
end $$;
grant execute on function app.list_keys(integer, text, text) to fanfold_api, fanfold_admin;
