-- The large results that rows of a tenant name, in pages of 500 by stage and ordinal: [{stage_id, ordinal, job_id, spill}].
-- `after` is [stage_id, ordinal] of the last one.
create or replace function app.named_results(tenant text default null, after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object(
        'stage_id', x.stage_id, 'ordinal', x.ordinal, 'job_id', x.job_id, 'spill', x.spill) order by x.stage_id, x.ordinal), '[]')
      from (
        select r.stage_id, r.ordinal, s.job_id, r.spill
          from app.stages s
          join app.results r on r.stage_id = s.stage_id
         where s.tenant_id = v_tenant and r.spill is not null
           and (named_results.after is null
             or (r.stage_id, r.ordinal) > ((named_results.after ->> 0)::bigint, (named_results.after ->> 1)::bigint))
         order by r.stage_id, r.ordinal
         limit 500) x);
end $$;
grant execute on function app.named_results(text, json) to fanfold_api, fanfold_admin;
