-- Jobs ended: those that wait for them learn of it. What was waited for well enough is ticked off, who waits for nothing more is
-- released, and who waited for a job that ended badly is cancelled. Gives the jobs that ended by this, for the next round: the caller
-- holds lock_dependents of their tenants, and goes on in a loop, because a chain of a thousand jobs must not become a stack of a thousand calls.
create or replace function app.tell_dependents(inout tenants text[], inout job_ids text[])
language plpgsql
as $$
declare
  v_free_tenants text[];
  v_free text[];
  v_doomed_tenants text[];
  v_doomed text[];
begin
  perform 1
     from (
       select distinct d.tenant_id, d.job_id
         from unnest(tenants, job_ids) as e(tenant_id, job_id)
         cross join lateral (
           select * from app.job_dependencies w
            where w.tenant_id = e.tenant_id and w.depends_on = e.job_id and w.satisfied_at is null offset 0) d
        order by 1, 2
     ) k
     cross join lateral (
       select 1 from app.jobs j where j.tenant_id = k.tenant_id and j.job_id = k.job_id for update) locked;
  -- One that is cancelled is ticked off too: when it is resumed it must know.
  with ticked as (
    update app.job_dependencies d
       set satisfied_at = now()
     where d.ctid = any (array(
       select w.place
         from unnest(tenants, job_ids) as e(tenant_id, job_id)
         cross join lateral (select * from app.jobs q where q.tenant_id = e.tenant_id and q.job_id = e.job_id offset 0) q
         cross join lateral (
           select w.ctid as place, w.needs from app.job_dependencies w
            where w.tenant_id = e.tenant_id and w.depends_on = e.job_id and w.satisfied_at is null offset 0) w
        where app.is_satisfied(w.needs, q.status)))
    returning d.tenant_id, d.job_id
  ),
  counted as (select t.tenant_id, t.job_id, count(*) as n from ticked t group by t.tenant_id, t.job_id),
  moved as (
    update app.jobs j
       set waits_for = j.waits_for - p.n
      from (
        select c.n, q.place
          from counted c
          cross join lateral (
            select q.ctid as place from app.jobs q where q.tenant_id = c.tenant_id and q.job_id = c.job_id offset 0) q
      ) p
     where j.ctid = p.place
    returning j.tenant_id, j.job_id, j.waits_for, j.finished_at
  )
  select array_agg(m.tenant_id order by m.job_id), array_agg(m.job_id order by m.job_id)
    into v_free_tenants, v_free
    from moved m
   where m.waits_for = 0 and m.finished_at is null;
  select array_agg(x.tenant_id order by x.job_id), array_agg(x.job_id order by x.job_id)
    into v_doomed_tenants, v_doomed
    from (
      select distinct d.tenant_id, d.job_id
        from unnest(tenants, job_ids) as e(tenant_id, job_id)
        cross join lateral (
          select * from app.job_dependencies w
           where w.tenant_id = e.tenant_id and w.depends_on = e.job_id and w.satisfied_at is null offset 0) d
        cross join lateral (select * from app.jobs j where j.tenant_id = d.tenant_id and j.job_id = d.job_id offset 0) j
       where j.finished_at is null
    ) x;
  tenants := '{}'::text[];
  job_ids := '{}'::text[];
  if v_free is not null then
    select r.tenants, r.job_ids into tenants, job_ids from app.release_dependents(v_free_tenants, v_free) r;
  end if;
  if v_doomed is not null then
    perform app.cancel_dependents(v_doomed_tenants, v_doomed);
    tenants := tenants || v_doomed_tenants;
    job_ids := job_ids || v_doomed;
  end if;
end $$;
