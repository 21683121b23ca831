-- What must be equal for a repeated enqueue to count as the same: everything but a delay, which counts from the call. Without
-- settings of retries it is what it was before there were any.
create or replace function app.body_hash(parameters text, run_at timestamptz, priority text, max_attempts text, metadata jsonb, retry jsonb)
returns bytea
language sql immutable
as $$
  select sha256(convert_to(concat_ws(E'\x1f', parameters, coalesce((extract(epoch from run_at) * 1000000)::bigint::text, '-'), coalesce(priority, '0'), coalesce(max_attempts, '-'), coalesce(metadata::text, '-'), retry::text), 'UTF8'))
$$;
