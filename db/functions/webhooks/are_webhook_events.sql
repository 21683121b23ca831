-- Is this a list of events there are?
create or replace function app.are_webhook_events(events json)
returns boolean
language plpgsql immutable
as $$
begin
  if json_typeof(events) <> 'array' then
    return false;
  end if;
  return not exists (
    select from json_array_elements(events) e where json_typeof(e) <> 'string' or not e #>> '{}' = any (app.webhook_events()));
end $$;
