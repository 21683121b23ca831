-- Is a collection of pgSTAC's this tenant's?
create or replace function stac.pgstac_is_of(stored text, tenant text)
returns boolean
language sql immutable parallel safe
return case when tenant = 'default' then stored !~ '^[a-z0-9][a-z0-9_-]{0,62}~' else starts_with(stored, tenant || '~') end;
