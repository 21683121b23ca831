-- Datasets and releases. A dataset's resource is an asset, and each version of it a release with an ordinal. Which one is the latest is computed
-- and stored nowhere.

set local role fanfold_owner;

create table platform.assets (
  tenant_id text collate "C" not null references app.tenants,
  dataset_id text collate "C" not null,
  resource_id text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, dataset_id, resource_id)
);
call platform.protect('assets');

create table platform.releases (
  tenant_id text collate "C" not null references app.tenants,
  release_id text collate "C" not null,
  dataset_id text collate "C" not null,
  resource_id text collate "C" not null,
  version_id text collate "C" not null,
  ordinal integer not null,
  -- How often it was made: an overwrite is the next.
  revision integer not null default 1,
  -- What makes it now; those before are its other runs.
  request_id text collate "C" not null,
  data_type text collate "C" not null,
  wants_approval boolean not null,
  approval text not null,
  clearance text not null default 'uncleared',
  -- Who decided last, when and why; all decisions are events.
  reviewer text,
  reason text,
  decided_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, release_id),
  foreign key (tenant_id, dataset_id, resource_id) references platform.assets,
  foreign key (tenant_id, request_id) references platform.requests,
  constraint version_is_one_release unique (tenant_id, dataset_id, resource_id, version_id),
  constraint ordinal_is_one_release unique (tenant_id, dataset_id, resource_id, ordinal),
  constraint ordinals_begin_at_one check (ordinal >= 1 and revision >= 1),
  constraint approval_is_known check (approval in ('pending_review', 'approved', 'rejected', 'revoked')),
  constraint clearance_is_known check (clearance in ('uncleared', 'restricted', 'public')),
  constraint refusal_says_why check (approval not in ('rejected', 'revoked') or reason is not null),
  constraint decision_has_a_reviewer check (approval = 'pending_review' or not wants_approval or reviewer is not null)
);
create index releases_by_request on platform.releases (tenant_id, request_id);
create index releases_by_time on platform.releases (tenant_id, updated_at desc, release_id);
call platform.protect('releases');

reset role;
