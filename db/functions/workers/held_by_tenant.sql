-- How many tasks of each tenant a worker holds.
create or replace function app.held_by_tenant(worker uuid)
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_object_agg(k.tenant_id, k.tasks), '{}')
      from (select c.tenant_id, sum(app.held_count(c.held)) as tasks from app.claims c where c.worker_id = worker group by 1) k);
end $$;
