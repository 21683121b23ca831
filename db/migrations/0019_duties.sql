-- Locks of ours are rows that nobody else can lock: whoever may log in sees in pg_locks which advisory locks are held, and can take them.

set local role fanfold_owner;

-- Names that a transaction holds, by their hash. Whoever inserts one waits for others who have, and takes it out again at once: the
-- table is always empty, and what is waited for is the other's end.
create table app.named_locks (
  name bytea primary key
);
alter table app.named_locks enable row level security;
alter table app.named_locks force row level security;
create policy owner_sees_all on app.named_locks to fanfold_owner using (true) with check (true);

-- Duties that one process does at a time, for all tenants: whoever does one holds its row.
create table app.duties (
  duty text primary key
);
alter table app.duties enable row level security;
alter table app.duties force row level security;
create policy owner_sees_all on app.duties to fanfold_owner using (true) with check (true);

reset role;
