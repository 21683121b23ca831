-- Groups that ended long ago and of which no job is left.
create or replace function app.retire_groups(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 500;
  v_until constant timestamptz := now() - make_interval(secs => (app.retention_rule(tenant, 'groups')).keep_s);
  v_removed integer;
begin
  delete from app.job_groups g where g.tenant_id = tenant and g.group_id = any (array(
    select k.group_id
      from app.job_groups k
     where k.tenant_id = tenant and k.created_at < v_until and k.finished_at < v_until
       and not exists (select from app.jobs j where j.tenant_id = tenant and j.group_id = k.group_id)
     order by k.created_at
     limit c_page
       for update skip locked));
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed, 'next', case when v_removed = c_page then coalesce(cursor, '[]') end);
end $$;
