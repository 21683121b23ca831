-- Refuses a stage that is wider than its tenant's limit.
create or replace function app.assert_fan_out(stage app.stages, total bigint)
returns void
language plpgsql stable
as $$
declare
  v_limit bigint;
begin
  if total <= 1 then
    return;
  end if;
  select l.fan_out into v_limit from app.limits l where l.tenant_id = stage.tenant_id;
  if total > v_limit then
    raise exception 'stage "%" would have % tasks, and tenant "%" may have % in one stage (limit fan_out)', stage.name, total, stage.tenant_id, v_limit
      using errcode = 'FF009', hint = 'make fewer, larger tasks, or ask the operator to raise the limit';
  end if;
end $$;
