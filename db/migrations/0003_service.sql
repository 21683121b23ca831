-- What the service around the engine needs of every table that follows, and who may call it.

set local role fanfold_owner;

-- Gives a table of the tenants' the same protection as all others: its owner sees all, a tenant reads its own rows, nobody else
-- reads anything, and only functions write.
create procedure app.protect(table_name text)
language plpgsql
as $$
begin
  execute format('alter table app.%I enable row level security', table_name);
  execute format('alter table app.%I force row level security', table_name);
  execute format('create policy owner_sees_all on app.%I to fanfold_owner using (true) with check (true)', table_name);
  execute format(
    'create policy tenant_reads_its_own on app.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
    || 'using (tenant_id = (select app.current_tenant()))', table_name);
  execute format('grant select on app.%I to fanfold_api, fanfold_worker, fanfold_admin', table_name);
end $$;
revoke execute on procedure app.protect(text) from public;

-- What the keys of advisory locks are made with. Nobody but the owner reads it.
create table app.lock_salt (
  salt bigint not null default ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 17))::bit(64)::bigint
    # ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16))::bit(64)::bigint
);
create unique index there_is_one_salt on app.lock_salt ((true));
insert into app.lock_salt default values;
alter table app.lock_salt enable row level security;
alter table app.lock_salt force row level security;
create policy owner_sees_all on app.lock_salt to fanfold_owner using (true) with check (true);

-- Submit options that travel with a job.
alter table app.jobs
  add column group_id text collate "C",
  -- [{url | endpoint, …}]: who besides the tenant's endpoints hears how it ended.
  add column webhooks jsonb,
  -- W3C trace context of whoever submitted it.
  add column traceparent text;

-- Only the hash of a key's secret is here: the secret is shown once, to whoever made it.
create table app.api_keys (
  key_id text collate "C" primary key,
  tenant_id text collate "C" not null references app.tenants,
  env text not null default 'live',
  name text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  -- Of whoever runs the service: may see to tenants and their limits.
  operator boolean not null default false,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint key_id_is_short check (key_id ~ '^[a-z0-9]{12}$'),
  constraint env_is_a_short_word check (env ~ '^[a-z0-9]{1,16}$'),
  constraint secret_is_a_sha256 check (length(secret_hash) = 32),
  constraint name_is_short check (length(name) between 1 and 100),
  constraint scopes_are_known check (
    cardinality(scopes) > 0 and scopes <@ array['submit', 'read', 'operate', 'work', 'admin'])
);
create index api_keys_by_tenant on app.api_keys (tenant_id, created_at, key_id);
call app.protect('api_keys');
-- A hash is of no use to its tenant.
revoke select on app.api_keys from fanfold_api, fanfold_worker, fanfold_admin;

reset role;
