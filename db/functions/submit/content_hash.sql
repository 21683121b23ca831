-- SHA-256 of the canonical JSON {parameters, tenant, type}, with `run` among them for a job id. Keys are in canonical order.
-- Ids of tenants and types of jobs are lower-case names without a character that JSON would escape.
create or replace function app.content_hash(tenant text, job_type text, canonical_parameters text, run integer)
returns text
language sql stable
as $$
  select encode(sha256(convert_to(
    '{"parameters":' || canonical_parameters || coalesce(',"run":' || run, '')
    || ',"tenant":"' || tenant || '","type":"' || job_type || '"}', 'UTF8')), 'hex')
$$;
