-- New jobs join the groups they name; a group opens when it is first named. Nothing joins a sealed group: sealing waits for whoever
-- is joining, or we see it sealed.
create or replace function app.join_groups(tenant text, job_ids text[])
returns void
language plpgsql
as $$
declare
  v_joined record;
  v_group app.job_groups;
begin
  for v_joined in
    select j.group_id, count(*) as n
      from unnest(job_ids) c
      cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = c offset 0) j
     where j.group_id is not null
     group by j.group_id
     order by j.group_id
  loop
    insert into app.job_groups (tenant_id, group_id) values (tenant, v_joined.group_id) on conflict do nothing;
    select * into v_group from app.job_groups g where g.tenant_id = tenant and g.group_id = v_joined.group_id for key share;
    if v_group.sealed_at is not null then
      raise exception 'group "%" is sealed: no job can be added to it', v_joined.group_id
        using errcode = 'FF006', hint = 'use another group; look at this one', detail = app.action('groups.get', group_id => v_joined.group_id);
    end if;
    if v_group.expected is not null then
      -- With what this transaction has added already. What others add at this moment is seen at commit, under the group's row.
      perform app.assert_room(v_group, v_joined.n + (
        select coalesce(sum(c.added), 0) from app.group_changes c
         where c.xid = pg_current_xact_id() and c.tenant_id = tenant and c.group_id = v_joined.group_id)::bigint);
      insert into app.group_changes (tenant_id, group_id, added) values (tenant, v_joined.group_id, v_joined.n);
    end if;
  end loop;
end $$;
