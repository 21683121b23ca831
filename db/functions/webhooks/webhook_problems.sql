-- What is wrong with the receivers that the jobs of a submit name; null: nothing. A submit without any is not read.
create or replace function app.webhook_problems(tenant text, jobs json)
returns jsonb
language plpgsql stable
as $$
declare
  v_problems jsonb;
begin
  if strpos(jobs::text, '"webhooks"') = 0
     or not exists (select from json_array_elements(jobs) j where json_typeof(j -> 'webhooks') <> 'null') then
    return null;
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.jobs[' || p.job - 1 || '].webhooks' || p.place, 'problem', p.problem, 'fix', p.fix))
    into v_problems
    from (
      select j.position as job, '' as place, 'not a list of 1 to 10 receivers' as problem, '[{"url": "https://…", "secret": "secret://name"}]' as fix
        from json_array_elements(jobs) with ordinality as j(item, position)
       where case coalesce(json_typeof(j.item -> 'webhooks'), 'null')
         when 'array' then json_array_length(j.item -> 'webhooks') not between 1 and 10 when 'null' then false else true end
      union all
      select j.position, '[' || w.position - 1 || ']' || c.field, c.problem, c.fix
        from json_array_elements(jobs) with ordinality as j(item, position)
        cross join lateral json_array_elements(case when json_typeof(j.item -> 'webhooks') = 'array' then j.item -> 'webhooks' else '[]' end)
          with ordinality as w(item, position)
        cross join lateral (values
          ('', 'neither a url nor an endpoint, or both', '{"url": …, "secret": …} or {"endpoint": …}',
            json_typeof(w.item) <> 'object' or w.item -> 'subscriber' is null and (w.item ->> 'url' is null) = (w.item ->> 'endpoint' is null)),
          ('.url', 'not an http(s) address of at most 2048 bytes', 'https://example.com/hooks', not app.is_webhook_url(w.item ->> 'url')),
          ('.secret', 'not the name of a secret', 'secret://name; plain text would be stored with the job',
            w.item ->> 'url' is not null and coalesce(w.item ->> 'secret', '') !~ '^secret://[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?$'),
          ('.endpoint', 'there is no such webhook endpoint', 'name one of the endpoints that there are', w.item ->> 'endpoint' is not null and not exists (
            select from app.webhook_endpoints e where e.tenant_id = tenant and e.endpoint_id = w.item ->> 'endpoint')),
          ('.subscriber', 'not an object with http(s) addresses', '{"successUri": "https://…"}', w.item -> 'subscriber' is not null and (
            json_typeof(w.item -> 'subscriber') <> 'object' or not app.is_webhook_url(w.item #>> '{subscriber,successUri}')
            or not app.is_webhook_url(w.item #>> '{subscriber,failedUri}') or not app.is_webhook_url(w.item #>> '{subscriber,inProgressUri}'))),
          ('.events', 'not a list of events', 'of ' || array_to_string(app.webhook_events(), ', '),
            w.item -> 'events' is not null and not app.are_webhook_events(w.item -> 'events'))
        ) as c(field, problem, fix, bad)
       where c.bad
       limit 20
    ) p;
  return v_problems;
end $$;
