create or replace function app.assert_my_worker(worker uuid)
returns void
language plpgsql stable
as $$
begin
  if not app.is_my_worker(worker) then
    raise exception 'worker % is not registered', worker
      using errcode = 'FF007', hint = 'register again under a fresh worker id';
  end if;
end $$;
