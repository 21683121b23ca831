-- A job of the tenant by its id or by a prefix that is unique; another tenant's job is "not found".
create or replace function app.find_job(tenant text, wanted text)
returns app.jobs
language plpgsql stable
as $$
declare
  v_found app.jobs[];
begin
  if wanted ~ '^[0-9a-f]{4,64}$' then
    v_found := array(
      select j from app.jobs j
       where j.tenant_id = tenant and j.job_id >= wanted and j.job_id < wanted || 'g'
       limit 2);
  end if;
  if coalesce(cardinality(v_found), 0) = 0 then
    raise exception 'there is no job "%"', left(coalesce(wanted, 'null'), 80)
      using errcode = 'FF001', hint = 'a job id, or at least 4 characters of its start; list them', detail = app.action('jobs.list');
  elsif cardinality(v_found) > 1 then
    raise exception 'several jobs start with "%"', wanted using errcode = 'FF002', hint = 'give more of the id';
  end if;
  return v_found[1];
end $$;
