-- Is the job one that is asked for? One expression without a query in it, so that the planner puts it into the statement that asks.
-- That it is among those named, or something of it is tried again, only its source knows.
create or replace function app.job_fits(j app.jobs, f app.job_filter)
returns boolean
language sql stable
as $$
  select ((f).statuses is null or (j).status = any ((f).statuses))
    and ((f).types is null or (j).job_type = any ((f).types))
    and ((f).id is null or starts_with((j).job_id, (f).id))
    and ((f).created_after is null or (j).created_at >= (f).created_after)
    and ((f).created_before is null or (j).created_at <= (f).created_before)
    and ((f).finished_after is null or (j).finished_at >= (f).finished_after)
    and ((f).finished_before is null or (j).finished_at <= (f).finished_before)
    and ((f).priority_from is null or (j).priority >= (f).priority_from)
    and ((f).priority_to is null or (j).priority <= (f).priority_to)
    and ((f).paused is null or (f).paused = ((j).paused_at is not null))
    and ((f).waiting is null or (f).waiting = ((j).waits_for > 0 and (j).finished_at is null))
    and ((f).labels is null or (j).labels @> (f).labels)
    and ((f).label_keys is null or (j).labels ?& (f).label_keys)
    and ((f).correlation_id is null or (j).correlation_id is not distinct from (f).correlation_id)
    and ((f).group_id is null or (j).group_id is not distinct from (f).group_id)
    and ((f).error is null or strpos(lower(concat_ws(E'\n', (j).error ->> 'message', (j).error ->> 'code')), (f).error) > 0)
    and ((f).words is null or app.job_has_words(
      (f).words, (j).job_id, (j).job_type, (j).labels, (j).correlation_id, (j).group_id, (j).error))
    and ((f).approval is null or app.waits_for_approval((j).tenant_id, (j).job_id))
$$;
