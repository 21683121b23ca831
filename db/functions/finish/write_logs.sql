-- Log lines of tasks that are still running. A lost line is a lost line: the commit does not wait for the disk.
create or replace function app.write_logs(worker uuid, lines json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_written bigint;
begin
  perform app.assert_my_worker(worker);
  if app.may_hold_wild_numbers(lines::text) then
    perform app.refuse_wild_numbers(lines::jsonb);
  end if;
  perform set_config('synchronous_commit', 'off', true);
  v_written := app.store_logs(worker, lines);
  return json_build_object('written', v_written, 'refused', json_array_length(lines) - v_written);
end $$;
grant execute on function app.write_logs(uuid, json) to fanfold_worker, fanfold_admin;
