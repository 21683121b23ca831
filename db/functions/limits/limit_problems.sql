-- Everything that is wrong with limits that are to be set.
create or replace function app.limit_problems(limits jsonb)
returns jsonb
language plpgsql immutable
as $$
begin
  if jsonb_typeof(limits) is distinct from 'object' then
    return jsonb_build_array(jsonb_build_object('path', '$', 'problem', 'not an object', 'fix', '{"queued_tasks": 100000}'));
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('path', '$.' || left(g.key, 60), 'problem', case
        when k.name is null then 'there is no such limit'
        else 'not a ' || case when k.fraction then 'number' else 'whole number' end || ' from ' || k.least_value || ' to ' || k.greatest_value end,
        'fix', case when k.name is null then 'concurrent_tasks, queued_tasks, submits_per_s, submit_burst, fan_out, submit_bytes or plan_bytes'
          else 'null lifts the limit' end) order by g.key), '[]')
      from jsonb_each(limits) g
      left join (values
        ('concurrent_tasks', 1, 2147483647, false),
        ('queued_tasks', 1, 1000000000000, false),
        ('submits_per_s', 0.001, 1000000, true),
        ('submit_burst', 1, 10000000, false),
        ('fan_out', 1, 10000000, false),
        ('submit_bytes', 2, 1073741824, false),
        ('plan_bytes', 1, 1073741824, false)
      ) as k(name, least_value, greatest_value, fraction) on k.name = g.key
     where k.name is null
        or (g.value <> 'null' and case
          when jsonb_typeof(g.value) <> 'number' then true
          else (g.value #>> '{}')::numeric not between k.least_value and k.greatest_value
            or (not k.fraction and (g.value #>> '{}')::numeric <> trunc((g.value #>> '{}')::numeric)) end));
end $$;
