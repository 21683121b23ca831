-- The next page of a tenant's jobs, oldest first: those that no rule keeps any longer go. `cursor` is the `next` of the page before.
create or replace function app.retire_jobs(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 200;
  v_until timestamptz := app.youngest_to_go(tenant, 'jobs');
  v_seen integer;
  v_last jsonb;
  v_due text[];
begin
  -- A job is never younger than its submit, so the index by age is enough to pass over all that no rule lets go.
  select count(*), (array_agg(jsonb_build_array(p.created_at, p.job_id) order by p.created_at desc, p.job_id desc))[1],
      array_agg(p.job_id) filter (where p.finished_at < now() - make_interval(secs => p.keep_s))
    into v_seen, v_last, v_due
    from (
      select j.created_at, j.job_id, j.finished_at, (app.retention_rule(tenant, 'jobs', j.job_type, j.status::text)).keep_s
        from app.jobs j
       where j.tenant_id = tenant and j.created_at < v_until
         and (cursor is null or (j.created_at, j.job_id) > ((cursor ->> 0)::timestamptz, cursor ->> 1))
       order by j.created_at, j.job_id
       limit c_page
    ) p;
  return jsonb_build_object('removed', app.remove_due_jobs(tenant, v_due), 'next', case when v_seen = c_page then v_last end);
end $$;
