-- Jobs beyond those that a rule keeps by their number: of one type and status at a time. `cursor` is the last type and status looked at.
create or replace function app.retire_surplus_jobs(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 200;
  v_one record;
  v_due text[];
  v_removed integer;
begin
  select t.job_type, t.status, (app.retention_rule(tenant, 'jobs', t.job_type, t.status::text)).keep_count into v_one
    from (select distinct k.job_type, k.status from app.job_tallies k where k.tenant_id = tenant) t
   where (cursor is null or (t.job_type, t.status::text) > (cursor ->> 0, cursor ->> 1))
     and (app.retention_rule(tenant, 'jobs', t.job_type, t.status::text)).keep_count is not null
   order by t.job_type, t.status::text
   limit 1;
  if not found then
    return jsonb_build_object('removed', 0, 'next', null);
  end if;
  v_due := array(
    select j.job_id from app.jobs j
     where j.tenant_id = tenant and j.job_type = v_one.job_type and j.status = v_one.status
     order by j.created_at desc, j.job_id
    offset v_one.keep_count
     limit c_page);
  v_removed := app.remove_due_jobs(tenant, v_due);
  -- A full page of which something went: there may be more of the same.
  return jsonb_build_object('removed', v_removed, 'next', case
    when v_removed > 0 and cardinality(v_due) = c_page then coalesce(cursor, '["", ""]')
    else jsonb_build_array(v_one.job_type, v_one.status) end);
end $$;
