create or replace function app.limits_record(limits app.limits)
returns jsonb
language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'concurrent_tasks', limits.concurrent_tasks, 'queued_tasks', limits.queued_tasks, 'submits_per_s', limits.submits_per_s,
    'submit_burst', limits.submit_burst, 'fan_out', limits.fan_out, 'submit_bytes', limits.submit_bytes,
    'plan_bytes', limits.plan_bytes);
end $$;
