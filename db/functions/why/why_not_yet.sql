-- A job that was submitted for later.
create or replace function app.why_not_yet(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  return app.verdict('NOT_YET', format('job %s was submitted for %s', left(job.job_id, 12), to_json(job.starts_at) #>> '{}'),
    json_build_object('run_at', job.run_at), job.created_at, job.starts_at, 'it starts then, by itself', null);
end $$;
