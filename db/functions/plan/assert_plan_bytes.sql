-- Refuses a plan whose tasks come to more bytes than its tenant may have in one.
create or replace function app.assert_plan_bytes(stage app.stages, bytes bigint, most bigint)
returns void
language plpgsql stable
as $$
begin
  if bytes > most then
    raise exception 'the tasks of stage "%" would come to more than % bytes (limit plan_bytes)', stage.name, most
      using errcode = 'FF009', constraint = 'plan_too_large',
        hint = 'let its templates name less, e.g. {parameters.x} and not {parameters}, or put the data into storage and pass a reference';
  end if;
end $$;
