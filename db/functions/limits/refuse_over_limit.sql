-- Refuses a call that is over a limit of its tenant's for now, and says when to come back.
create or replace function app.refuse_over_limit(limits app.limits, limit_name text, problem text, retry_after_s double precision)
returns void
language plpgsql stable
as $$
begin
  raise exception 'tenant "%" is over its limit %: %', limits.tenant_id, limit_name, problem
    using errcode = 'FF008', hint = 'come back in ' || ceil(retry_after_s) || ' s, or ask the operator to raise the limit',
      detail = jsonb_build_array(jsonb_build_object(
        'path', 'limits.' || limit_name, 'problem', problem, 'fix', 'come back later, or ask the operator to raise the limit',
        'retry_after_s', ceil(retry_after_s)))::text;
end $$;
