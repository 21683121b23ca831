-- One statement of an isolated handler, as role fanfold_handler. A function that acts for its owner is a fence: whatever runs inside
-- cannot take another role, end the transaction, or do what this role may not. PREPARE takes queries and changes of rows only,
-- and gives parameters the types their places have; that the text is one statement was asked before (Queryable.describe).
-- A null statement: what is deferred to the commit happens now, still as this role. Rows come as text, for the caller to read.
grant create on schema app to fanfold_handler;
create or replace function app.run_as_handler(statement text, parameters jsonb, has_rows boolean, path text)
returns setof text
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_given text;
  v_rows refcursor;
  v_row record;
begin
  if statement is null then
    set constraints all immediate;
    return;
  end if;
  -- Prepared statements outlive the transaction of one that failed.
  if exists (select from pg_prepared_statements where name = 'fanfold_handler') then
    deallocate fanfold_handler;
  end if;
  select '(' || string_agg(quote_nullable(p.value), ', ' order by p.n) || ')' into v_given
    from jsonb_array_elements_text(parameters) with ordinality p (value, n);
  perform set_config('search_path', path, true);
  execute 'prepare fanfold_handler as ' || statement;
  if has_rows then
    open v_rows for execute 'execute fanfold_handler' || coalesce(v_given, '');
    loop
      fetch v_rows into v_row;
      exit when not found;
      return next v_row::text;
    end loop;
    close v_rows;
  else
    execute 'execute fanfold_handler' || coalesce(v_given, '');
  end if;
  deallocate fanfold_handler;
end $$;
alter function app.run_as_handler(text, jsonb, boolean, text) owner to fanfold_handler;
-- Not for itself either: a statement that runs another would take the prepared one away under its own feet.
revoke all on function app.run_as_handler(text, jsonb, boolean, text) from public, fanfold_handler;
grant execute on function app.run_as_handler(text, jsonb, boolean, text) to fanfold_owner;
revoke create on schema app from fanfold_handler;
