-- The operator makes this database the cell of a number: from here on its sequences give numbers that no other cell gives. request: {number, name,
-- above?: {sequence: what other cells have given}}. Again with the same number: it only goes on above what is said now.
create or replace function app.number_cell(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set lock_timeout = '300ms'
as $$
declare
  v_number constant smallint := (request ->> 'number')::smallint;
  v_cell app.cell;
begin
  perform app.assert_server('number cells');
  perform app.lock_named('cell');
  select * into v_cell from app.cell;
  if found and (v_cell.number, v_cell.name) is distinct from (v_number, request ->> 'name') then
    raise exception 'this database is cell % "%" already', v_cell.number, v_cell.name
      using errcode = 'FF006', hint = 'a cell keeps its number and its name: what it has numbered goes by them';
  end if;
  if not found then
    insert into app.cell (number, name) values (v_number, request ->> 'name');
  end if;
  perform app.advance_numbers(v_number, request -> 'above');
  return app.cell_facts();
end $$;
grant execute on function app.number_cell(json) to fanfold_api, fanfold_admin;
