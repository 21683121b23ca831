-- The jobs of a new request, as its recipe has them: they wait. Their job types are kept as they are now, so that a request runs one version
-- of each. `asked.blueprints` names those that the caller knows to be kept.
create or replace function platform.insert_jobs(request platform.requests, recipe jsonb, asked jsonb)
returns void
language plpgsql
as $$
begin
  insert into platform.request_jobs (
    tenant_id, request_id, number, name, job_type, sequence, blueprint_hash, importance, after, parameters, condition, gate)
  select request.tenant_id, request.request_id, j.number, j.job ->> 'name', j.job ->> 'job', coalesce((j.job ->> 'sequence')::integer, 1),
    platform.blueprint_of(request.tenant_id, j.job ->> 'job', asked #>> array['blueprints', j.job ->> 'job']),
    coalesce(j.job ->> 'importance', 'critical')::app.importance, a.after,
    nullif(j.job -> 'parameters', 'null'), nullif(j.job -> 'when', 'null'),
    platform.gate_of(recipe, j.number::integer, platform.wants_approval(recipe, request.parameters), request.version_id)
    from jsonb_array_elements(recipe -> 'jobs') with ordinality j(job, number)
    cross join lateral (
      select case
        when jsonb_typeof(j.job -> 'after') = 'array' then array(select e::integer from jsonb_array_elements_text(j.job -> 'after') e order by 1)
        when j.number > 1 then array[(j.number - 1)::integer]
        else '{}'::integer[]
      end as after
    ) a;
  -- Made here, so that no job's end has to: two that did would wait for each other.
  if recipe @? '$.jobs[*] ? (exists(@.parameters.function) || exists(@.when.function))' then
    perform app.standing_stage(request.tenant_id, 'platform.plan.' || request.data_type);
  end if;
  if exists (select from app.webhook_endpoints e where e.tenant_id = request.tenant_id and e.disabled_at is null) then
    perform app.standing_stage(request.tenant_id, 'connector.webhook.deliver');
  end if;
end $$;
