-- Files that tasks have made, as far as others may see them: a file without a row here is not there for anybody.

set local role fanfold_owner;

create table app.assets (
  tenant_id text collate "C" not null references app.tenants,
  zone text collate "C" not null,
  -- Below the tenant's part of the zone.
  key text collate "C" not null,
  name text not null,
  bytes bigint not null,
  sha256 text collate "C" not null,
  media_type text not null,
  -- Who made it; the job may be gone by now.
  job_id text collate "C",
  stage_id bigint,
  ordinal bigint,
  -- Somebody else's file: recorded, never removed.
  adopted boolean not null default false,
  created_at timestamptz not null default now(),
  -- Seen by nobody since; the row goes once the file is gone.
  retracted_at timestamptz,
  primary key (tenant_id, zone, key),
  constraint zone_is_known check (zone in ('bronze', 'silver', 'gold')),
  constraint key_is_short check (octet_length(key) between 1 and 1024),
  constraint key_stays_below check (key !~ '(^|/)(\.|/|$)'),
  constraint name_is_short check (length(name) between 1 and 255),
  constraint bytes_are_counted check (bytes >= 0),
  constraint sha256_is_hexadecimal check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint media_type_is_one check (media_type ~ '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *; *[A-Za-z0-9_.+-]+=("[^"\\]*"|[A-Za-z0-9_.+:/-]+))*$' and media_type !~ '[^\x20-\x7e]' and length(media_type) <= 200),
  constraint adopted_file_is_not_retracted check (not adopted or retracted_at is null)
);
create index assets_by_job on app.assets (tenant_id, job_id, zone, key) where job_id is not null;
create index assets_to_remove on app.assets (retracted_at) where retracted_at is not null;
call app.protect('assets');

-- Where the sweep of a tenant's zone stands: whoever does the next part takes the row.
create table app.zone_sweeps (
  tenant_id text collate "C" not null references app.tenants,
  zone text collate "C" not null,
  -- When somebody last took it.
  taken_at timestamptz not null default 'epoch',
  -- Go on after this; null: from the beginning, once it is due again.
  after_key text,
  primary key (tenant_id, zone)
);
call app.protect('zone_sweeps');

reset role;
