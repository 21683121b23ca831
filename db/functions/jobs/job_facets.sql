-- What a filter can be about: the types a tenant has jobs of, and the labels of its newest 1,000 jobs.
create or replace function app.job_facets(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    with newest as materialized (
      select j.job_type, j.labels from app.jobs j where j.tenant_id = v_tenant order by j.created_at desc, j.job_id limit 1000
    ),
    types as (
      select t.job_type, sum(t.amount) as ended from app.job_tallies t where t.tenant_id = v_tenant group by t.job_type
      union all
      select n.job_type, 0 from newest n
    ),
    pairs as (
      select l.key, l.value, count(*) as jobs from newest n cross join lateral jsonb_each_text(n.labels) l group by 1, 2
    ),
    ranked as (
      select p.*, sum(p.jobs) over (partition by p.key) as of_key, row_number() over (partition by p.key order by p.jobs desc, p.value) as place
        from pairs p
    )
    select json_build_object(
      'types', coalesce((
        select json_agg(d.job_type order by d.ended desc, d.job_type)
          from (select t.job_type, sum(t.ended) as ended from types t group by t.job_type order by 2 desc, 1 limit 200) d), '[]'),
      'labels', coalesce((
        select json_agg(json_build_object('key', k.key, 'values', k.some) order by k.of_key desc, k.key)
          from (
            select r.key, r.of_key, array_agg(r.value order by r.place) as some
              from ranked r where r.place <= 20 group by r.key, r.of_key order by r.of_key desc, r.key limit 40) k), '[]')));
end $$;
grant execute on function app.job_facets(text) to fanfold_api, fanfold_admin;
