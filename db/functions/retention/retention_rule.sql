-- The rule that holds for this: of the tenant before everybody's, of the type before of any, of the status before of any.
create or replace function app.retention_rule(
  tenant text, kind text, of_type text default '', status text default '', out keep_s double precision, out keep_count integer)
language sql stable
as $$
  select r.keep_s, r.keep_count
    from app.retention_of(tenant) r
   where r.kind = retention_rule.kind and r.of_type in ('', retention_rule.of_type) and r.status in ('', retention_rule.status)
   order by r.rank, r.of_type <> '' desc, r.status <> '' desc
   limit 1
$$;
