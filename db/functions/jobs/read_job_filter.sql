-- What is asked of a tenant's jobs, read and checked once. request: {status? [..], type?, types? [..], words? [..], id?, error?,
-- correlation_id?, group_id?, labels? {..}, label_keys? [..], created_after?, created_before?, finished_after?, finished_before?,
-- priority_from?, priority_to?, paused?, waiting?, approval?, retrying?, job_ids? [..]}. What a wish implies is written down, so that the narrowest
-- index serves it: only what ended badly has an error, and what finished before a moment was created before it.
create or replace function app.read_job_filter(tenant text, request json)
returns app.job_filter
language plpgsql stable
as $$
declare
  c_open constant app.job_status[] := '{queued,processing}'::app.job_status[];
  c_bad constant app.job_status[] := '{partial_success,failed,cancelled}'::app.job_status[];
  c_ended constant app.job_status[] := '{completed,partial_success,failed,cancelled}'::app.job_status[];
  v_statuses text[] := app.texts_of(request -> 'status');
  v_unknown text;
  v_moment text;
  v_only app.job_status[];
  v_retrying text[];
  f app.job_filter;
begin
  select s into v_unknown from unnest(v_statuses) s where s <> all (enum_range(null::app.job_status)::text[]) limit 1;
  if v_unknown is not null then
    raise exception '"%" is not a job status', left(v_unknown, 40)
      using errcode = 'FF002', hint = 'one of ' || array_to_string(enum_range(null::app.job_status)::text[], ', ');
  end if;
  foreach v_moment in array array['created_after', 'created_before', 'finished_after', 'finished_before'] loop
    if not app.is_time(request ->> v_moment) then
      raise exception '% is not a time', v_moment using errcode = 'FF002', hint = 'a time such as 2030-01-31T08:00:00Z';
    end if;
  end loop;
  f.id := request ->> 'id';
  if f.id is not null and f.id !~ '^[0-9a-f]{4,64}$' then
    raise exception '"%" is not the beginning of a job id', left(f.id, 80) using errcode = 'FF002', hint = 'at least 4 characters of it';
  end if;
  f.statuses := v_statuses::app.job_status[];
  f.types := coalesce(app.texts_of(request -> 'types'), array_remove(array[request ->> 'type'], null));
  f.types := case when f.types <> '{}' then array(select distinct t from unnest(f.types) t) end;
  f.words := (select array_agg(lower(w)) from unnest(app.texts_of(request -> 'words')) w where w <> '');
  f.error := lower(request ->> 'error');
  f.correlation_id := request ->> 'correlation_id';
  f.group_id := request ->> 'group_id';
  f.labels := case json_typeof(request -> 'labels') when 'object' then nullif((request -> 'labels')::jsonb, '{}') end;
  f.label_keys := app.texts_of(request -> 'label_keys');
  f.created_after := (request ->> 'created_after')::timestamptz;
  f.created_before := (request ->> 'created_before')::timestamptz;
  f.finished_after := (request ->> 'finished_after')::timestamptz;
  f.finished_before := (request ->> 'finished_before')::timestamptz;
  f.created_before := least(f.created_before, f.finished_before);
  f.priority_from := (request ->> 'priority_from')::integer;
  f.priority_to := (request ->> 'priority_to')::integer;
  f.paused := (request ->> 'paused')::boolean;
  f.waiting := (request ->> 'waiting')::boolean;
  f.approval := nullif((request ->> 'approval')::boolean, false);
  f.retrying := nullif((request ->> 'retrying')::boolean, false);
  -- A word that an id begins with is that id.
  if f.id is null and cardinality(f.words) = 1 and f.words[1] ~ '^[0-9a-f]{6,64}$' and exists (
      select from app.jobs j where j.tenant_id = tenant and j.job_id >= f.words[1] and j.job_id < f.words[1] || 'g') then
    f.id := f.words[1];
    f.words := null;
  end if;
  v_only := case when f.error is not null then c_bad when f.finished_after is not null or f.finished_before is not null then c_ended end;
  if f.paused or f.waiting or f.approval or f.retrying then
    v_only := case when v_only is null then c_open else '{}' end;
  end if;
  if v_only is not null then
    f.statuses := case when f.statuses is null then v_only else array(select s from unnest(f.statuses) s where s = any (v_only)) end;
  end if;
  f.among := app.texts_of(request -> 'job_ids');
  if f.retrying then
    v_retrying := app.retrying_jobs(tenant);
    f.among := case when f.among is null then v_retrying else array(select a from unnest(f.among) a where a = any (v_retrying)) end;
  end if;
  f.source := app.job_source(f);
  return f;
end $$;
