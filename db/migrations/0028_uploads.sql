-- Files that clients bring over HTTP: what was announced, and what has arrived whole. The parts of one that is under way lie beside the zone,
-- where no key can name them.

set local role fanfold_owner;

create table app.uploads (
  tenant_id text collate "C" not null references app.tenants,
  upload_id uuid not null default gen_random_uuid(),
  -- Below the tenant's part of bronze.
  key text collate "C" not null,
  bytes bigint not null,
  part_bytes bigint not null,
  media_type text not null default 'application/octet-stream',
  -- What the caller says it is; what was found is in its place once the file is there.
  sha256 text collate "C",
  overwrite boolean not null default false,
  state text not null default 'open',
  actor text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  completed_at timestamptz,
  primary key (tenant_id, upload_id),
  constraint state_is_known check (state in ('open', 'publishing', 'completed')),
  constraint key_is_short check (octet_length(key) between 1 and 1024),
  constraint key_stays_below check (key !~ '(^|/)(\.|/|$)'),
  constraint bytes_are_counted check (bytes >= 0),
  constraint parts_have_bytes check (part_bytes > 0),
  constraint sha256_is_hexadecimal check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint completed_file_is_known check ((state = 'completed') = (completed_at is not null) and (completed_at is null or sha256 is not null))
);
-- Two uploads of one key may be under way; only one of them is put in its place.
create unique index one_upload_has_a_key on app.uploads (tenant_id, key) where state <> 'open';
create index uploads_by_time on app.uploads (tenant_id, created_at desc, upload_id);
create index uploads_by_size on app.uploads (tenant_id) include (bytes);
create index uploads_to_end on app.uploads (tenant_id, expires_at) where state <> 'completed';
call app.protect('uploads');

reset role;
