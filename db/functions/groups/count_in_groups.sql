-- Counts ended jobs in their groups, where those are counted. The key share lock lets any number of us by; sealing waits for all of
-- us, or we see that it is sealed: no end is lost between the two.
create or replace function app.count_in_groups(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
declare
  v_ended record;
begin
  for v_ended in
    select j.tenant_id, j.group_id,
        count(*) filter (where j.status = 'completed') as completed, count(*) filter (where j.status = 'partial_success') as partial_success,
        count(*) filter (where j.status = 'failed') as failed, count(*) filter (where j.status = 'cancelled') as cancelled
      from unnest(tenants, job_ids) as e(tenant_id, job_id)
      cross join lateral (select * from app.jobs q where q.tenant_id = e.tenant_id and q.job_id = e.job_id offset 0) j
     where j.group_id is not null
     group by j.tenant_id, j.group_id
     order by j.tenant_id, j.group_id
  loop
    if app.is_counted(v_ended.tenant_id, v_ended.group_id) then
      insert into app.group_changes (tenant_id, group_id, completed, partial_success, failed, cancelled)
      values (v_ended.tenant_id, v_ended.group_id, v_ended.completed, v_ended.partial_success, v_ended.failed, v_ended.cancelled);
    end if;
  end loop;
end $$;
