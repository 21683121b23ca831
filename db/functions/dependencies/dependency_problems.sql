-- Which of the jobs that new jobs depend on are not there, by where the submit names them; null: they all are.
create or replace function app.dependency_problems(tenant text, job_type text, jobs json, new_hashes text[])
returns jsonb
language sql stable
as $$
  select jsonb_agg(jsonb_build_object(
      'path', '$.jobs[' || m.position - 1 || '].depends_on[' || m.place - 1 || ']', 'problem', 'there is no job "' || left(m.value, 80) || '"',
      'fix', 'the whole id of a job that exists') order by m.position, m.place)
    from (
      select j.position, d.value, d.place
        from rows from (json_to_recordset(jobs) as (parameters text, identity text, depends_on jsonb))
          with ordinality as j(parameters, identity, depends_on, position)
        cross join lateral jsonb_array_elements_text(case when jsonb_typeof(j.depends_on) = 'array' then j.depends_on else '[]' end)
          with ordinality as d(value, place)
        left join lateral (select q.job_id from app.jobs q where q.tenant_id = tenant and q.job_id = d.value offset 0) e on true
       where app.content_hash(tenant, job_type, coalesce(j.identity, j.parameters), null) = any (new_hashes) and e.job_id is null
       order by j.position, d.place
       limit 20
    ) m
$$;
