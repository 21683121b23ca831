-- A sealed group whose jobs have all ended ends, once; one of whose jobs goes on is open again; one whose outcome a repair moved has
-- the new one. Each of these is an event, and endpoints hear of ends. The
-- caller holds the group's row.
create or replace function app.end_group(job_group app.job_groups)
returns void
language plpgsql
as $$
declare
  v_open bigint := job_group.total - job_group.completed - job_group.partial_success - job_group.failed - job_group.cancelled;
  v_status text := case when job_group.sealed_at is null or v_open > 0 then 'open' else app.group_outcome(job_group) end;
  v_told jsonb := jsonb_build_object('group_id', job_group.group_id, 'name', job_group.name, 'total', job_group.total, 'open', v_open,
    'completed', job_group.completed, 'partial_success', job_group.partial_success, 'failed', job_group.failed, 'cancelled', job_group.cancelled);
begin
  if v_status = job_group.status then
    return;
  end if;
  update app.job_groups g
     set status = v_status, finished_at = case when v_status <> 'open' then now() end
   where g.tenant_id = job_group.tenant_id and g.group_id = job_group.group_id;
  perform app.note(job_group.tenant_id, 'group.' || case when v_status = 'open' then 'reopened' else v_status end, null, null, null, v_told);
  if v_status <> 'open' then
    perform app.tell_endpoints(job_group.tenant_id, 'group.' || v_status,
      ((v_told - 'open') || jsonb_build_object('status', v_status))::json);
  end if;
end $$;
