-- Before new jobs are inserted: the jobs they depend on exist, and none of them ends unseen between our look and our commit. Whoever
-- ends a job holds its row `for update` first, which waits for our key share; a claim that marks it as started does not. It never waits for one while it holds another: whoever ends jobs holds several,
-- in an order that is not ours.
create or replace function app.hold_dependencies(tenant text, job_type text, jobs json, new_hashes text[])
returns void
language plpgsql
as $$
declare
  v_ids text[];
  v_busy text;
  v_problems jsonb;
begin
  with named as (
    select j.position, d.value, d.place
      from rows from (json_to_recordset(jobs) as (parameters text, identity text, depends_on jsonb))
        with ordinality as j(parameters, identity, depends_on, position)
      cross join lateral jsonb_array_elements_text(case when jsonb_typeof(j.depends_on) = 'array' then j.depends_on else '[]' end)
        with ordinality as d(value, place)
     where app.content_hash(tenant, job_type, coalesce(j.identity, j.parameters), null) = any (new_hashes)
  ),
  missing as (
    select n.*
      from named n
      left join lateral (select q.job_id from app.jobs q where q.tenant_id = tenant and q.job_id = n.value offset 0) e on true
     where e.job_id is null
     order by n.position, n.place
     limit 20
  )
  select (select array_agg(distinct n.value) from named n), (
      select jsonb_agg(jsonb_build_object(
          'path', '$.jobs[' || m.position - 1 || '].depends_on[' || m.place - 1 || ']', 'problem', 'there is no job "' || left(m.value, 80) || '"',
          'fix', 'the whole id of a job that exists') order by m.position, m.place)
        from missing m)
    into v_ids, v_problems;
  perform app.refuse_problems('the submit', v_problems);
  if v_ids is null then
    return;
  end if;
  for v_try in 1 .. 1000 loop
    begin
      perform 1 from app.jobs j where j.tenant_id = tenant and j.job_id = any (v_ids) order by j.job_id for key share nowait;
      return;
    exception
      when lock_not_available then null;
    end;
    -- Who is busy, found and waited for in blocks that are rolled back: what they locked is let go.
    begin
      select min(i) into v_busy
        from unnest(v_ids) i
       where i <> all (array(
         select j.job_id from app.jobs j where j.tenant_id = tenant and j.job_id = any (v_ids) for key share skip locked));
      raise exception 'looked' using errcode = 'FF000';
    exception
      when sqlstate 'FF000' then null;
    end;
    begin
      perform 1 from app.jobs j where j.tenant_id = tenant and j.job_id = v_busy for key share;
      raise exception 'waited' using errcode = 'FF000';
    exception
      when sqlstate 'FF000' then null;
    end;
  end loop;
  raise exception 'the jobs it depends on are too busy' using errcode = '55P03', hint = 'try again';
end $$;
