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
begin
  v_ids := array(
    select distinct d.value
      from json_to_recordset(jobs) as j(parameters text, identity text, depends_on jsonb)
      cross join lateral jsonb_array_elements_text(case when jsonb_typeof(j.depends_on) = 'array' then j.depends_on else '[]' end) as d(value)
     where app.content_hash(tenant, job_type, coalesce(j.identity, j.parameters), null) = any (new_hashes));
  perform app.refuse_problems('the submit', app.dependency_problems(tenant, job_type, jobs, new_hashes));
  if v_ids = '{}' then
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
