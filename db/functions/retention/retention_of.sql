-- The rules that hold for a tenant: its own (rank 1), those set for everybody (2), and those that hold where nothing was set (3). Failures are
-- kept longer than successes, and what people did longer than what was done by itself. A spilled result is known to be ours by the worker
-- that wrote it, so workers are remembered longer than results.
create or replace function app.retention_of(tenant text)
returns table (rank integer, kind text, of_type text, status text, keep_s double precision, keep_count integer, changed_at timestamptz, changed_by text)
language sql stable
as $$
  select case when r.tenant_id = '' then 2 else 1 end, r.kind, r.of_type, r.status, r.keep_s, r.keep_count, r.changed_at, r.changed_by
    from app.retention_rules r
   where r.tenant_id in ('', tenant)
  union all
  select 3, d.kind, '', d.status, d.days * 86400, null, null, null
    from (values
      ('jobs', 'completed', 90), ('jobs', '', 365), ('tasks', 'completed', 30), ('tasks', '', 180), ('requests', '', 730),
      ('deliveries', 'delivered', 30), ('deliveries', '', 180), ('ticks', '', 90), ('events', '', 90), ('audit', '', 1095),
      ('groups', '', 365), ('workers', '', 1095)) d(kind, status, days)
$$;
