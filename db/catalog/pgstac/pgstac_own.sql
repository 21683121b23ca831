-- A collection as its tenant knows it.
create or replace function stac.pgstac_own(content jsonb, tenant text)
returns jsonb
language sql immutable parallel safe
as $$ select content || jsonb_build_object('id', stac.own_name(content ->> 'id', tenant)) $$;
