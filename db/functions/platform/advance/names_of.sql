-- What is made of a request is called after its dataset, resource and version: the same at every run, so that a later run replaces it.
create or replace function platform.names_of(request platform.requests)
returns jsonb
language sql stable
as $$
  select jsonb_build_object('collection', platform.slug(request.dataset_id),
    'item', platform.slug(request.dataset_id || '-' || request.resource_id || '-' || request.version_id),
    'overwrite', case when request.run > 1 or request.epoch > 1 then 'replace' else 'refuse' end)
$$;
