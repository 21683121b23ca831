-- What a worker needs to run the claims it just made, without the facts of stages it knows already, unless these were opened
-- again since: repair may have changed what comes before them. Tasks are reached by key
-- range; `offset 0` keeps the planner from turning that into a join over the whole table.
create or replace function app.claimed_work(claim_ids bigint[], served text, known bigint[], kept_out json, turns jsonb, shared boolean)
returns json
language plpgsql
as $$
declare
  v_claims json;
  v_stages json := '[]'::json;
  v_unknown bigint[];
  v_known bigint[];
begin
  select
    json_agg(json_build_object(
      'claim_id', c.claim_id, 'stage_id', c.stage_id, 'attempt', c.attempt, 'crashes', c.crashes,
      'tasks', case
        when c.held = '{[-1,0)}' then '[[-1,null,null,null]]'::json
        else (
          select coalesce(json_agg(t.item), '[]')
            from unnest(c.held) r
            cross join lateral (
              select json_build_array(t.ordinal, t.index, t.parameters, t.metadata) as item
                from app.tasks t
               where t.stage_id = c.stage_id and t.ordinal >= lower(r) and t.ordinal < upper(r)
               order by t.ordinal
              offset 0
            ) t)
      end)),
    array_agg(c.stage_id) filter (where c.stage_id <> all (known)), array_agg(c.stage_id) filter (where c.stage_id = any (known))
    into v_claims, v_unknown, v_known
    from app.claims c
   where c.claim_id = any (claim_ids);
  if v_known is not null then
    v_unknown := v_unknown || array(select s.stage_id from app.stages s where s.stage_id = any (v_known) and s.epoch > 1);
  end if;
  if v_unknown <> '{}' then
    v_stages := app.stage_facts(v_unknown);
  end if;
  return json_build_object('after_tenant', served, 'claims', v_claims, 'stages', v_stages, 'kept_out', kept_out, 'turns', turns, 'shared', shared);
end $$;
