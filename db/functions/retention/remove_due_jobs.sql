-- Takes those of these jobs away that have ended and that nothing alive refers to. Returns how many.
create or replace function app.remove_due_jobs(tenant text, job_ids text[])
returns integer
language plpgsql
as $$
declare
  v_held text[];
begin
  if coalesce(cardinality(job_ids), 0) = 0 then
    return 0;
  end if;
  v_held := app.hold_jobs(tenant, job_ids, true);
  v_held := array(
    select h from unnest(v_held) h where h not in (select k.job_id from app.job_keepers(tenant, v_held) k));
  perform app.remove_jobs(tenant, v_held);
  return cardinality(v_held);
end $$;
