-- The id of a request: 32 hex digits of the SHA-256 of canonical JSON {dataset_id, resource_id, run, tenant, version_id}, keys in
-- canonical order.
create or replace function platform.request_hash(tenant text, dataset_id text, resource_id text, version_id text, run integer)
returns text
language sql immutable
as $$
  select left(encode(sha256(convert_to(
    '{"dataset_id":' || to_json(dataset_id) || ',"resource_id":' || to_json(resource_id) || ',"run":' || run
    || ',"tenant":' || to_json(tenant) || ',"version_id":' || to_json(version_id) || '}', 'UTF8')), 'hex'), 32)
$$;
grant execute on function platform.request_hash(text, text, text, text, integer) to fanfold_api, fanfold_worker, fanfold_admin;
