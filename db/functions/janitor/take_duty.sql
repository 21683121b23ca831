-- Takes a duty that is everybody's and that one process does at a time, until the transaction ends. False: another is at it, or this
-- session acts for one tenant only.
create or replace function app.take_duty(duty text)
returns boolean
language plpgsql
as $$
begin
  if app.worker_tenant() is not null then
    return false;
  end if;
  insert into app.duties (duty) values (take_duty.duty) on conflict do nothing;
  perform 1 from app.duties d where d.duty = take_duty.duty for update skip locked;
  return found;
end $$;
