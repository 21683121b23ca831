-- What a subscriber is sent of a job that ended well: its outputs as one document, as GET /ogc/jobs/{id}/results has it. What was asked for by
-- reference, was stored, or makes the whole too large for a message is told by where it is.
create or replace function app.subscriber_results(subscriber jsonb, id text, result jsonb, is_there boolean)
returns json
language plpgsql stable
as $$
declare
  c_limit constant integer := 16384;
  v_made json;
begin
  for v_step in 0 .. 1 loop
    select json_object_agg(o.name, case
        when v_step = 1 or not is_there or o.value ->> 'mode' = 'reference' then
          json_build_object('href', (subscriber ->> 'root') || '/jobs/' || id || '/results/' || (o.value ->> 'path'), 'type', 'application/json')
        when o.value ? 'media_type' and jsonb_typeof(v.value) = 'string' then json_strip_nulls(json_build_object(
          'value', v.value, 'mediaType', o.value -> 'media_type', 'encoding', o.value -> 'encoding'))
        when jsonb_typeof(v.value) = 'object' and not v.value ? 'bbox' or v.value = 'null' then json_build_object('value', v.value)
        else v.value::json end)
      into v_made
      from jsonb_each(subscriber -> 'outputs') o(name, value)
      cross join lateral (
        select case when subscriber ->> 'named' = 'true' then result -> o.name else coalesce(result, 'null') end as value) v
     where not is_there or v.value is not null;
    exit when octet_length(v_made::text) <= c_limit;
  end loop;
  return coalesce(v_made, '{}');
end $$;
