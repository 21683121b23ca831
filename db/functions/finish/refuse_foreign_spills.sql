-- Checks the extras of a finish: a spilled result must be a whole reference to a file of its task's tenant. Whoever reads the result
-- reads that file, so a worker that could name any would read every tenant's. Keys below results/<stage> are those of 0.2.0,
-- whose workers may still be at work; a stage is one tenant's.
create or replace function app.refuse_foreign_spills(claim_ids bigint[], extras json)
returns void
language plpgsql
as $$
declare
  v_foreign record;
begin
  select i.claim_id, k.tenant_id
    into v_foreign
    from json_to_recordset(extras) as x(i bigint, s jsonb)
    join unnest(claim_ids) with ordinality as i(claim_id, position) on i.position = x.i
    cross join lateral (select * from app.claims k where k.claim_id = i.claim_id offset 0) k
   where x.s is not null
     and (
       (starts_with(x.s ->> 'key', 'tenant-' || k.tenant_id || '/') or starts_with(x.s ->> 'key', 'results/' || k.stage_id || '/'))
       and x.s ->> 'bytes' ~ '^[0-9]{1,15}$' and jsonb_typeof(x.s -> 'bytes') = 'number'
       and x.s ->> 'sha256' ~ '^[0-9a-f]{64}$'
     ) is not true
   limit 1;
  if found then
    raise exception 'the spilled result of a task under claim % is no file of its tenant', v_foreign.claim_id
      using errcode = 'FF002', hint = format('Pass the reference as storage gave it; its key begins with tenant-%s/.', v_foreign.tenant_id);
  end if;
end $$;
