-- What handlers in processes of their own say to the database: a role that holds nothing but what an operator grants it, and for
-- which tenant a session runs a statement of theirs at the moment.

do $$
begin
  -- Roles are shared by all databases of a server: another database may create it at the same moment.
  begin
    if not exists (select from pg_roles where rolname = 'fanfold_handler') then
      create role fanfold_handler nologin;
    end if;
  exception
    when duplicate_object or unique_violation then null;
  end;
  begin
    -- The owner makes the one function that runs as this role.
    grant fanfold_handler to fanfold_owner;
  exception
    when unique_violation then null;
  end;
  -- By its temporary schema a session knows that it may have such a statement; the right to one is often taken from everybody.
  execute format('grant temporary on database %I to fanfold_owner', current_database());
end $$;

set local role fanfold_owner;

grant usage on schema app to fanfold_handler;

-- A row is there while such a statement runs and never committed, so that a session sees its own or none. Who has one is no
-- longer the server's role, whatever the statement sets: a setting could be changed by the statement itself, a row cannot.
create table app.handler_statements (
  pid integer primary key,
  tenant_id text collate "C" not null
);
alter table app.handler_statements enable row level security, force row level security;
create policy owner_sees_all on app.handler_statements to fanfold_owner using (true) with check (true);

reset role;
