-- The tenant's collections in pgSTAC in the order of their ids, after the given one; null in the place of those beyond 16 MB.
create or replace function stac.pgstac_list_collections(most integer, after_id text default null, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(jsonb_agg(case when p.before < 16777216 then stac.pgstac_own(p.content, v_tenant) end order by p.id collate "C"), '[]')
      from (
        select c.id, c.content, coalesce(sum(octet_length(c.content::text)) over (order by c.id collate "C" rows between unbounded preceding and 1 preceding), 0) as before
          from pgstac.collections c
         where stac.pgstac_is_of(c.id, v_tenant)
           and (after_id is null or c.id collate "C" > stac.pgstac_stored_name(after_id, v_tenant))
         order by c.id collate "C"
         limit least(most, 10001)
      ) p);
end $$;
grant execute on function stac.pgstac_list_collections(integer, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
