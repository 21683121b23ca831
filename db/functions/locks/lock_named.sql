-- Waits for others who hold this name, and holds it until the transaction ends. An insert waits for another's of the same key until
-- that has committed or not; that the row is gone by then is why nobody ever finds one there. A row and no advisory lock: those can be
-- seen and held by any login.
create or replace function app.lock_named(name text)
returns void
language plpgsql
as $$
declare
  v_name constant bytea := sha256(convert_to(name, 'UTF8'));
begin
  insert into app.named_locks (name) values (v_name);
  delete from app.named_locks l where l.name = v_name;
end $$;
