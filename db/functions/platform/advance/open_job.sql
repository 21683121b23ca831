-- One job of a request whose predecessors have all ended, where that takes more than to make it: it is skipped, judged by its condition, a
-- person is asked, a worker that has the recipe in code is asked, or what it made before a repair still stands. Gives the jobs that ended at once.
-- The caller holds the request's row.
create or replace function platform.open_job(
  tenant text, request text, place_number integer, decision text, out tenants text[], out ids text[])
language plpgsql
as $$
declare
  v_request platform.requests;
  v_job platform.request_jobs;
  v_met boolean;
  v_problem text;
begin
  tenants := '{}'::text[];
  ids := '{}'::text[];
  select * into v_request from platform.requests r where r.tenant_id = tenant and r.request_id = request;
  select * into v_job from platform.request_jobs j where j.tenant_id = tenant and j.request_id = request and j.number = place_number;
  -- One that ran before met its condition then, and what it made stands.
  if decision = 'open' and v_job.condition ? 'path' and v_job.job_id is null then
    begin
      if not platform.condition_met(v_request, v_job.condition ->> 'path') then
        decision := 'when';
      end if;
    exception
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        v_problem := 'its condition cannot be evaluated: ' || sqlerrm;
    end;
  end if;
  if v_problem is not null then
    perform platform.close_job(v_job, 'failed', null, jsonb_build_object('code', 'bad_condition', 'message', v_problem));
    return;
  elsif decision <> 'open' then
    perform platform.close_job(v_job, 'skipped', decision, null);
    return;
  end if;
  if v_job.gate is not null and v_job.decision is null then
    begin
      v_met := not v_job.gate ?| array['when', 'release']
        or v_job.gate ? 'release' and platform.waits_for_review(v_request)
        or v_job.gate ? 'when' and platform.condition_met(v_request, v_job.gate ->> 'when');
    exception
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        -- What cannot be told is asked.
        v_met := true;
    end;
    if v_met then
      perform platform.ask_for_approval(v_request, v_job);
      return;
    end if;
  end if;
  if (v_job.parameters ? 'function' and not v_job.parameters ? 'made') or (v_job.condition ? 'function' and not v_job.condition ? 'met') then
    perform platform.ask_for_plan(v_request, v_job);
    return;
  end if;
  if v_job.job_id is not null and platform.still_stands(v_request, v_job) then
    update platform.request_jobs j set phase = 'processing'
     where j.tenant_id = tenant and j.request_id = request and j.number = place_number;
    return;
  end if;
  select o.tenants, o.ids into tenants, ids from platform.open_jobs(array[tenant], array[request], array[place_number]) o;
end $$;
