-- The tenant's collections in the order of their ids, after the given one; null in the place of those beyond 16 MB, as in page_text.
create or replace function stac.list_collections(most integer, after_id text default null, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(jsonb_agg(case when p.before < 16777216 then p.content end order by p.id), '[]')
      from (
        select c.id, c.content, coalesce(sum(octet_length(c.content::text)) over (order by c.id rows between unbounded preceding and 1 preceding), 0) as before
          from stac.collections c
         where c.tenant_id = v_tenant and (after_id is null or c.id > after_id)
         order by c.id
         limit least(most, 10001)
      ) p);
end $$;
grant execute on function stac.list_collections(integer, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
