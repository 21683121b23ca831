-- The figures of the database that are worth a chart. Null where they cannot be read: what looks after queues must not fail for it.
create or replace function app.sample_vitals()
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object(
        'size_bytes', d.v -> 'size_bytes', 'connections', d.v -> 'connections', 'locks_waiting', d.v -> 'locks_waiting',
        'oldest_xmin_age', d.v -> 'oldest_xmin_age', 'oldest_transaction_s', d.v -> 'oldest_transaction_s',
        'commits', d.v -> 'commits', 'rollbacks', d.v -> 'rollbacks', 'deadlocks', d.v -> 'deadlocks',
        'dead_tuples', (select coalesce(sum((t ->> 1)::bigint), 0) from jsonb_array_elements(d.v -> 'tables') t),
        'claimed', (select coalesce(sum(w.counts[1]), 0) from app.work_counts w),
        'slots', (select coalesce(sum(w.slots), 0) from app.workers w where w.status = 'live'),
        'workers', (select count(*) from app.workers w where w.status = 'live'))
      -- Measured once, not once for each figure.
      from (select app.measure_database()::jsonb as v offset 0) d);
exception
  when insufficient_privilege or undefined_function or undefined_table or feature_not_supported then
    return null;
end $$;
