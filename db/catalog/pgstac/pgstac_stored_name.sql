-- What a tenant's collection is called in pgSTAC, which knows no tenants. No tenant has a "~" in its name, so that no two share one; the
-- default tenant's collections have their own names there, and are those that were in pgSTAC before. Null for a name that would be another's.
create or replace function stac.pgstac_stored_name(own text, tenant text)
returns text
language sql immutable parallel safe
return case when tenant <> 'default' then tenant || '~' || own when own !~ '^[a-z0-9][a-z0-9_-]{0,62}~' then own end;
