-- What a tenant calls a collection of pgSTAC's: the default tenant's have their own names there, others' stand behind "<tenant>~".
create or replace function stac.own_name(stored text, tenant text)
returns text
language sql immutable parallel safe
return case when tenant = 'default' then stored else substr(stored, length(tenant) + 2) end;
