-- Refuses a call with one problem, in the shape that all refusals have.
create or replace function stac.refuse(what text, at_path text, problem text, fix text)
returns void
language plpgsql
as $$
begin
  raise exception '%', what using
    errcode = 'FF002', hint = fix,
    detail = jsonb_build_array(jsonb_build_object('path', at_path, 'problem', problem, 'fix', fix))::text;
end $$;
