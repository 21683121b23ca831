-- Everything that is wrong with rules of retention that are to be set.
create or replace function app.retention_problems(rules jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  c_fix constant text := '[{"kind": "jobs", "status": "completed", "keep_s": 2592000}]';
begin
  if jsonb_typeof(rules) is distinct from 'array' or jsonb_array_length(rules) not between 1 and 100 then
    return jsonb_build_array(jsonb_build_object('path', '$.rules', 'problem', 'not a list of 1 to 100 rules', 'fix', c_fix));
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('path', '$.rules[' || (r.place - 1) || ']' || p.path, 'problem', p.problem, 'fix', p.fix)
        order by r.place, p.path), '[]')
      from jsonb_array_elements(rules) with ordinality as r(rule, place)
      cross join lateral (
        select coalesce(r.rule ->> 'kind', '') as kind, coalesce(r.rule ->> 'status', '') as status, jsonb_typeof(r.rule) as type
      ) k
      cross join lateral (values
        (k.type <> 'object', '', 'not an object', c_fix),
        (k.kind not in ('jobs', 'tasks', 'requests', 'deliveries', 'ticks', 'events', 'audit', 'groups', 'workers'), '.kind',
          'there is no such kind', 'jobs, tasks, requests, deliveries, ticks, events, audit, groups or workers'),
        (coalesce(r.rule ->> 'type', '') <> '' and k.kind not in ('jobs', 'tasks'), '.type', 'only jobs and tasks have types', 'leave it out'),
        (k.status <> '' and k.status <> all (case k.kind
            when 'jobs' then array['completed', 'partial_success', 'failed', 'cancelled']
            when 'requests' then array['completed', 'partial_success', 'failed', 'cancelled']
            when 'tasks' then array['completed', 'failed', 'skipped', 'cancelled']
            when 'deliveries' then array['delivered', 'failed', 'discarded']
            else '{}' end), '.status', 'not how one of these ends', 'leave it out for all that have ended'),
        (coalesce(r.rule -> 'keep_s', 'null') <> 'null' and (jsonb_typeof(r.rule -> 'keep_s') <> 'number' or (r.rule -> 'keep_s') < '0'), '.keep_s',
          'not a number of seconds', 'null keeps for ever'),
        (coalesce(r.rule -> 'keep_count', 'null') <> 'null' and (
            k.kind <> 'jobs' or jsonb_typeof(r.rule -> 'keep_count') <> 'number' or (r.rule -> 'keep_count') not between '1' and '1000000'
            or r.rule ->> 'keep_count' !~ '^[0-9]+$'),
          '.keep_count', 'not a number of jobs from 1 to 1000000', 'null keeps any number; only jobs are counted')
      ) as p(is_wrong, path, problem, fix)
     where p.is_wrong);
end $$;
