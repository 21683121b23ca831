-- The last step of whatever ends tasks: moves the ledgers, and closes and opens stages when one reaches zero, or has failed
-- too often and was declared to fail fast. `plans` are stages whose planning failed for good. Returns whether a stage closed.
create or replace function app.settle(
  done_stages bigint[], done_counts bigint[], failed_stages bigint[], plans bigint[], worker uuid)
returns boolean
language plpgsql
as $$
declare
  v_stages bigint[];
  v_completed bigint[];
  v_failed bigint[];
  v_moved bigint[];
  v_closing bigint[];
  v_fast bigint[];
  v_tenants text[];
  v_jobs text[];
begin
  select array_agg(d.stage_id), array_agg(d.completed), array_agg(d.failed)
    into v_stages, v_completed, v_failed
    from (
      select e.stage_id, sum(e.completed) as completed, sum(e.failed) as failed
        from (
          select s as stage_id, n as completed, 0 as failed from unnest(done_stages, done_counts) as x(s, n)
          union all
          select s, 0, 1 from unnest(failed_stages) s
        ) e
       group by e.stage_id
       order by e.stage_id
    ) d;
  if v_stages is not null then
    -- For the rates; before the ledgers, whose locks others wait for.
    insert into app.rate_notes (stages, completed, failed) values (v_stages, v_completed, v_failed);
    if cardinality(v_stages) > 1 then
      perform 1 from app.stage_progress p where p.stage_id = any (v_stages) order by p.stage_id for update;
    end if;
    with moved as (
      update app.stage_progress p
         set completed = p.completed + d.completed, failed = p.failed + d.failed, remaining = p.remaining - d.completed - d.failed,
             is_open = p.remaining > d.completed + d.failed
        from unnest(v_stages, v_completed, v_failed) as d(stage_id, completed, failed)
       where p.stage_id = d.stage_id and p.stage_id = any (v_stages) and p.is_open
      returning p.stage_id, p.remaining
    )
    select array_agg(m.stage_id), array_agg(m.stage_id) filter (where m.remaining = 0) into v_moved, v_closing from moved m;
    if cardinality(v_moved) is distinct from cardinality(v_stages) then
      perform app.undo_in_closed_stages(v_stages, coalesce(v_moved, '{}'), worker);
    end if;
    if failed_stages <> '{}' then
      v_fast := app.failing_fast(v_moved);
    end if;
  end if;
  v_closing := v_closing || v_fast || plans;
  if v_closing is null or v_closing = '{}' then
    return false;
  end if;
  select l.tenants, l.job_ids into v_tenants, v_jobs from app.lock_jobs_of(v_closing) l;
  if v_tenants[1] <> any (v_tenants) then
    -- Jobs of several tenants may end below: what that locks is locked here, in one order.
    perform app.lock_dependents(app.tenants_with_dependents(v_tenants, v_jobs));
  end if;
  perform app.close_stages(v_closing);
  perform app.advance_jobs(v_tenants, v_jobs);
  if v_fast <> '{}' then
    perform app.empty_closed(v_fast);
  end if;
  return true;
end $$;
