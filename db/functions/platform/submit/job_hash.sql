-- The id of a job of a request (its content, where `run` is null). Its keys are others than those of a job that is submitted by its
-- parameters, so that nobody can take its id beforehand, and a second run of a request never shares a job with the first.
create or replace function platform.job_hash(tenant text, job_type text, request_id text, name text, run integer)
returns text
language sql stable
as $$
  select encode(sha256(convert_to(
    '{"job":' || to_json(name) || ',"request_id":' || to_json(request_id) || coalesce(',"run":' || run, '')
    || ',"tenant":' || to_json(tenant) || ',"type":' || to_json(job_type) || '}', 'UTF8')), 'hex')
$$;
