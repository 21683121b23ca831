-- The gate of a job of a recipe, as a request has it. Where a release waits for an approval, what nothing follows does too: the job that publishes
-- is among the last, and a recipe that names no gate for it means this one. `release` in a gate: it asks while the release waits for its review.
create or replace function platform.gate_of(recipe jsonb, number integer, wants_approval boolean, version_id text)
returns jsonb
language sql immutable
as $$
  select case
    when wants_approval and (g.gate is null or g.gate ? 'when') and not exists (
      select from jsonb_array_elements(recipe -> 'jobs') with ordinality f(job, place)
       where case
         when jsonb_typeof(f.job -> 'after') = 'array' then f.job -> 'after' @> to_jsonb(gate_of.number)
         else f.place = gate_of.number + 1 end)
    then jsonb_build_object('message', 'Publish version ' || version_id || '?') || coalesce(g.gate, '{}') || '{"release": true}'
    else g.gate
  end
    from (select nullif(recipe -> 'jobs' -> (gate_of.number - 1) -> 'gate', 'null') as gate) g
$$;
