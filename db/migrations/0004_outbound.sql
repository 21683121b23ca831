-- What handlers know of the outside world: the configuration of connectors, and the state of the hosts they call, shared by all
-- workers.

set local role fanfold_owner;

create table app.connector_configs (
  tenant_id text collate "C" not null references app.tenants,
  connector text collate "C" not null,
  name text collate "C" not null,
  -- Secrets only by reference (secret://name): the engine refuses values.
  config jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant_id, connector, name),
  constraint connector_is_a_task_type check (connector ~ '^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$' and length(connector) <= 63),
  constraint name_is_a_short_word check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  constraint config_is_a_small_object check (jsonb_typeof(config) = 'object' and pg_column_size(config) <= 65536)
);
call app.protect('connector_configs');

-- One row for what one tenant calls under one set of limits: a host, or a configuration of a connector.
create table app.host_states (
  tenant_id text collate "C" not null references app.tenants,
  scope text collate "C" not null,
  -- Rate: tokens there are, as of refilled_at.
  tokens double precision not null default 0,
  refilled_at timestamptz not null default now(),
  -- Whoever was refused is told to come back at a turn of its own, so that a thousand do not come back at once.
  turn_at timestamptz not null default now(),
  -- How long a call takes, smoothed.
  mean_s double precision not null default 0.2,
  -- The host itself asked for a pause (Retry-After).
  wait_until timestamptz,
  -- Circuit breaker: calls of the window by outcome; while open, nobody calls until open_until, and then one.
  breaker text not null default 'closed',
  window_began_at timestamptz not null default now(),
  window_failed integer not null default 0,
  window_ok integer not null default 0,
  opened_count integer not null default 0,
  open_until timestamptz,
  -- As of the last entry: what leaving needs to know.
  break_after integer not null default 5,
  window_s double precision not null default 60,
  cool_down_s double precision not null default 30,
  used_at timestamptz not null default now(),
  primary key (tenant_id, scope),
  constraint scope_is_short check (length(scope) between 1 and 300),
  constraint breaker_is_known check (breaker in ('closed', 'open', 'half_open')),
  constraint open_breaker_has_an_end check ((breaker = 'open') = (open_until is not null))
) with (fillfactor = 70);
create index host_states_by_use on app.host_states (tenant_id, used_at);
call app.protect('host_states');

-- A call that is under way. One whose worker is gone ends when it expires.
create table app.host_slots (
  slot_id bigint generated always as identity primary key,
  tenant_id text collate "C" not null references app.tenants,
  scope text collate "C" not null,
  is_probe boolean not null default false,
  taken_at timestamptz not null,
  expires_at timestamptz not null
);
create index host_slots_by_scope on app.host_slots (tenant_id, scope, expires_at);
call app.protect('host_slots');

reset role;
