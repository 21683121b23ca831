-- Who is signed in with a browser, and one-time links that sign somebody in.

set local role fanfold_owner;

-- Only the hash of a token is here: the token is in one browser's cookie, or in one link. What a session may do is what its key
-- may, looked up at each call: nothing of it is copied here.
create table app.sessions (
  token_hash bytea primary key,
  tenant_id text collate "C" not null references app.tenants,
  key_id text collate "C" not null references app.api_keys,
  kind text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  -- Moves with use, up to a bound: app.session_end.
  expires_at timestamptz not null,
  constraint token_is_a_sha256 check (length(token_hash) = 32),
  constraint kind_is_known check (kind in ('session', 'link'))
);
create index sessions_by_key on app.sessions (key_id, kind, created_at);
create index sessions_by_end on app.sessions (expires_at);
call app.protect('sessions');
-- A hash is of no use to its tenant.
revoke select on app.sessions from fanfold_api, fanfold_worker, fanfold_admin;

reset role;
