-- Are the ends of a group's jobs counted? Until this transaction ends the answer stays true: sealing the group waits.
create or replace function app.is_counted(tenant text, group_name text)
returns boolean
language plpgsql
as $$
declare
  v_group app.job_groups;
begin
  select * into v_group from app.job_groups g where g.tenant_id = tenant and g.group_id = group_name for key share;
  return v_group.sealed_at is not null or v_group.expected is not null;
end $$;
