-- The recipes there are for a tenant: as workers have them in code, else as the tenant saved them.
create or replace function platform.known_recipes(tenant text)
returns table (data_type text, recipe jsonb)
language sql stable
as $$
  select distinct on (k.data_type) k.data_type, k.recipe
    from (
      select r.data_type, r.recipe, case when r.tenant_id = tenant then 1 else 2 end as place
        from platform.registered_recipes r where r.tenant_id in (tenant, '')
      union all
      select s.data_type, s.recipe, 3
        from (
          select distinct on (v.data_type) v.* from platform.saved_recipes v where v.tenant_id = tenant order by v.data_type, v.version desc) s
       where s.removed_at is null
    ) k
   order by k.data_type, k.place
$$;
