-- As claim_hinted, for a worker that speaks over HTTP. As in claim_for, one that gets all it asked for is no longer idle: until it comes again by
-- itself, nothing that it is told of would be for it.
create or replace function app.claim_hinted_for(worker uuid, type text, known bigint[], request text)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_reply json := app.claim_hinted(worker, type, known, request);
begin
  if (select sum(json_array_length(c -> 'tasks')) from json_array_elements(v_reply -> 'claims') c) >= (request::json ->> 'limit')::bigint then
    update app.workers w set idle = false where w.worker_id = worker and w.idle;
  end if;
  return v_reply;
end $$;
grant execute on function app.claim_hinted_for(uuid, text, bigint[], text) to fanfold_worker, fanfold_admin;
