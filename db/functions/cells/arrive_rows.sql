-- For the server: rows of a tenant that comes from another cell, as leaving_rows gave them. Numbers that nobody sees are given anew. request: {tenant_id,
-- move_id}. Returns how many rows that were.
create or replace function app.arrive_rows(request json, table_name text, records json)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_move constant app.moving_tenants := app.the_move(request, array['arriving']);
  v_columns text;
  v_count bigint;
begin
  if not exists (select from app.tables_that_move() t where t.name = table_name) then
    raise exception 'there is no table "%" to move', left(table_name, 100) using errcode = 'FF002';
  end if;
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into v_columns
    from pg_attribute a
   where a.attrelid = table_name::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     and not (a.attidentity <> '' and table_name in ('app.ready', 'app.job_tallies'));
  begin
    execute format(
      -- Without `offset` each row would be read from its text once for every column.
      'insert into %1$s (%2$s) overriding system value select %2$s from (select (r.one).* from ('
        'select e.record::%1$s as one from json_array_elements_text($1) e (record) offset 0) r) t where t.tenant_id = $2',
      table_name, v_columns) using records, v_move.tenant;
  exception
    when unique_violation then
      raise exception 'a number of tenant "%" is taken by another tenant of this cell, in %', v_move.tenant, table_name
        using errcode = 'FF006', hint = 'both cells gave numbers before they were cells: this tenant cannot move here', detail = sqlerrm;
  end;
  get diagnostics v_count = row_count;
  if v_count <> json_array_length(records) then
    raise exception 'rows of another tenant came with those of "%"', v_move.tenant using errcode = 'FF002';
  end if;
  return v_count;
end $$;
grant execute on function app.arrive_rows(json, text, json) to fanfold_api, fanfold_admin;
