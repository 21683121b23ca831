-- Opens an ended job again, under its id, in a new epoch: the one way in which what is terminal changes. See repair_plan for
-- kind and target. A stage opened again waits for those before it that are opened too; one with nothing to do closes again as it
-- was. Two at once: one opens the epoch, the other is told. A dry run of a group looks at so many failures as error_groups does:
-- `at_least` says that there may be more.
create or replace function app.repair_job(job app.jobs, kind text, target text, dry_run boolean, reason text, actor text)
returns json
language plpgsql
as $$
declare
  v_job app.jobs;
  v_opened integer[];
  v_stages json;
  v_again bigint;
  v_kept bigint;
  v_from integer;
  v_row record;
  v_last app.events;
  v_at_least boolean := false;
begin
  perform app.lock_job_for_verbs(job);
  perform app.lock_waiting_job(job);
  select * into v_job from app.jobs j where j.tenant_id = job.tenant_id and j.job_id = job.job_id;
  if v_job.finished_at is null then
    select * into v_last from app.events e
     where e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id and e.kind in ('job.resumed', 'job.retried')
     order by e.event_id desc limit 1;
    raise exception 'job % is %: %', left(v_job.job_id, 12), v_job.status, case
        when v_last.event_id is null then 'what has not ended cannot be run again'
        else format('%s opened epoch %s at %s', v_last.actor, v_job.epoch, to_char(v_last.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')) end
      using errcode = 'FF003', hint = 'follow it', detail = app.action('watch', job_id => v_job.job_id);
  end if;
  if dry_run and kind = 'group' then
    kind := 'seen_group';
    v_at_least := exists (
      select from app.stages s
        join app.stage_progress p on p.stage_id = s.stage_id
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and p.failed > app.failures_seen());
  end if;
  select array_agg(p.number order by p.number), min(p.number), coalesce(sum(app.held_count(p.again)), 0), coalesce(sum(p.kept), 0),
      coalesce(json_agg(json_build_object('number', p.number, 'stage', p.name, 'again', app.held_count(p.again),
        'at_most', p.at_most, 'kept', p.kept, 'follows', not p.own) order by p.number), '[]')
    into v_opened, v_from, v_again, v_kept, v_stages
    from app.repair_plan(v_job, kind, target) p;
  perform app.assert_resumable(v_job);
  if v_opened is null then
    raise exception 'nothing of job % is to be run again', left(v_job.job_id, 12)
      using errcode = 'FF006', hint = 'see what it has', detail = app.action('jobs.status', job_id => v_job.job_id);
  end if;
  if not dry_run then
    perform app.empty_job(v_job);
    select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id for update;
    -- Looked at once more: what it depends on may have ended while we waited for its row.
    perform app.assert_resumable(v_job);
    perform app.count_out_of_group(v_job);
    perform app.count_reopened_job(v_job);
    for v_row in select p.*, g.stage_id is not null as has_run
        from app.repair_plan(v_job, kind, target) p left join app.stage_progress g on g.stage_id = p.stage_id loop
      update app.stages s
         set status = 'waiting', closed_at = null, skip_reason = null, error = null, summary = null,
             total = case when v_row.has_run then s.total end, opened_at = case when v_row.has_run then s.opened_at end,
             epoch = case when v_row.has_run then s.epoch else v_job.epoch + 1 end,
             again = s.again + v_row.again, replan = v_row.has_run and (s.replan or v_row.replan),
             decision = case when (s.decision ->> 'approved')::boolean then s.decision end,
             waiting_for = (select count(*) from unnest(s.after) a where a = any (v_opened))
       where s.stage_id = v_row.stage_id;
    end loop;
    update app.stages s set paused = false where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.paused;
    update app.jobs j
       set status = case when j.started_at is null then 'queued' else 'processing' end::app.job_status,
           epoch = j.epoch + 1, resume_count = j.resume_count + 1, finished_at = null, error = null,
           deadline_at = now() + make_interval(secs => j.deadline_s), deadline_left_s = null, clock_stands = false,
           paused_at = null, paused_by = null, pause_reason = null
     where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id
    returning * into v_job;
    if v_job.waits_for > 0 then
      perform app.stop_clock(v_job);
    end if;
    perform app.note(v_job.tenant_id, case kind when 'resume' then 'job.resumed' else 'job.retried' end, v_job.job_id, null, reason,
      jsonb_build_object('epoch', v_job.epoch, 'kind', kind, 'target', left(target, 4000), 'from_stage', v_from, 'again', v_again, 'kept', v_kept,
        'stages', v_stages), actor);
    if v_job.request_id is not null then
      perform platform.reopen(v_job.tenant_id, v_job.request_id, v_job.job_id, reason, actor);
    end if;
    perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
    select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'epoch', v_job.epoch, 'resume_count', v_job.resume_count,
    'from_stage', v_from, 'again', v_again, 'at_least', v_at_least, 'kept', v_kept, 'stages', v_stages, 'dry_run', dry_run,
    'changed', not dry_run);
end $$;
