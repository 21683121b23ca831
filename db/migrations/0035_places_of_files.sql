-- Whether all processes see the same files: for each place of a tenant's files a token that lies there in a file of its own, written by the
-- first that came. Whoever does not find the file sees another place.

set local role fanfold_owner;

create table app.file_places (
  tenant_id text collate "C" not null references app.tenants,
  place text not null,
  token text collate "C" not null,
  -- What the writer called it, and who that was: for people.
  seen_as text not null,
  written_by text not null,
  written_at timestamptz not null default now(),
  primary key (tenant_id, place),
  constraint place_is_known check (place in ('storage', 'bronze', 'silver', 'gold')),
  constraint token_is_a_name check (token ~ '^[0-9a-f-]{36}$'),
  constraint words_are_short check (length(seen_as) <= 1000 and length(written_by) <= 300)
);
call app.protect('file_places');

reset role;
