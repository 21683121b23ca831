-- A table of tallies, one row for each cell that a task met, made ready to be read cell by cell: all its parts must be there. Gives ranges
-- of cells for tasks that put them together, with about so many rows each; a cell is in one of them with all its rows.
create or replace function geo.tally_parts(of_candidate text, chunks jsonb, rows_each integer, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant, true);
  v_missing integer;
  v_parts jsonb;
begin
  select count(*) into v_missing from jsonb_array_elements_text(chunks) w
   where not exists (select from geo.chunks c where c.table_name = v_candidate.table_name and c.chunk = w::integer);
  if v_missing > 0 then
    perform geo.refuse(format('%s parts of the tallies are not there', v_missing), 'run them again', 'FF006');
  end if;
  execute format('create index if not exists %I on geo.%I (fid)', of_candidate || '_cell', of_candidate);
  execute format('analyze geo.%I', of_candidate);
  execute format(
    $q$select coalesce(jsonb_agg(jsonb_build_object('from', p.least, 'to', p.most, 'count', p.cells) order by p.least), '[]')
         from (select min(k.fid) as least, max(k.fid) as most, count(*) as cells
                 from (select g.fid, (sum(g.rows) over (order by g.fid) - g.rows)::bigint / %s as part
                         from (select t.fid, count(*) as rows from geo.%I t group by t.fid) g) k
                group by k.part) p$q$,
    greatest(rows_each, 1), of_candidate) into v_parts;
  return v_parts;
end $$;
grant execute on function geo.tally_parts(text, jsonb, integer, text) to fanfold_api, fanfold_worker, fanfold_admin;
