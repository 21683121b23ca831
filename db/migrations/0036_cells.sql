-- Several databases, each a cell with tenants of its own. A cell has a number, so that what it numbers is numbered nowhere else and a tenant's rows
-- can move as they are; who is under way between two cells is written in both.

set local role fanfold_owner;

create table app.cell (
  only_row boolean primary key default true,
  number smallint not null,
  name text collate "C" not null,
  constraint there_is_one check (only_row),
  constraint number_is_small check (number between 0 and 127),
  constraint name_is_a_word check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);
alter table app.cell enable row level security;
alter table app.cell force row level security;
create policy owner_sees_all on app.cell to fanfold_owner using (true) with check (true);

-- Empty but for moments: every claim and every call looks here first.
create table app.moving_tenants (
  tenant text collate "C" primary key,
  move_id uuid not null,
  state text not null,
  -- Where it goes, or where it comes from.
  other_cell text not null,
  actor text,
  began_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  constraint state_is_known check (state in ('draining', 'closed', 'leaving', 'arriving'))
);
alter table app.moving_tenants enable row level security;
alter table app.moving_tenants force row level security;
create policy owner_sees_all on app.moving_tenants to fanfold_owner using (true) with check (true);

-- The last move of those who moved, and which cell they live in since. Those who live elsewhere are looked for here when they are not found.
create table app.moved_tenants (
  tenant text collate "C" primary key,
  cell text not null,
  move_id uuid not null,
  moved_at timestamptz not null default now()
);
alter table app.moved_tenants enable row level security;
alter table app.moved_tenants force row level security;
create policy owner_sees_all on app.moved_tenants to fanfold_owner using (true) with check (true);

reset role;
