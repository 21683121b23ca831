-- What has ended after this moment is kept by every rule of the kind. Null: all of them keep for ever.
create or replace function app.youngest_to_go(tenant text, kind text)
returns timestamptz
language sql stable
as $$
  select now() - make_interval(secs => min(r.keep_s)) from app.retention_of(tenant) r where r.kind = youngest_to_go.kind
$$;
