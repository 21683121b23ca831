-- The parameters of a job of a request, made of its template, with the defaults of its job type; what is wrong with them is the job's own
-- error, and never that of the finish that ended the job before it.
create or replace function platform.made_parameters(
  request platform.requests, request_job platform.request_jobs, schema jsonb, out parameters jsonb, out error jsonb)
language plpgsql stable
as $$
declare
  c_bytes constant bigint := 4000000;
  v_template constant jsonb := coalesce(request_job.parameters -> 'template', '"{request.parameters}"');
  v_text constant text := v_template::text;
  v_scope jsonb;
  v_problems jsonb;
begin
  v_scope := case when not coalesce(request_job.parameters ? 'made', false) then platform.request_scope(request, strpos(v_text, '{jobs.') > 0) end;
  if pg_column_size(v_scope)::bigint * (length(v_text) - length(replace(v_text, '{', ''))) > c_bytes then
    error := jsonb_build_object('code', 'bad_parameters', 'message',
      'its template may come to more than ' || c_bytes || ' bytes: name fields, e.g. {jobs.validate.result.crs}, and not what holds them');
    return;
  end if;
  parameters := coalesce(request_job.parameters -> 'made', app.fill_template(v_template, v_scope, null, request.parameters));
  if jsonb_typeof(parameters) is distinct from 'object' then
    error := jsonb_build_object('code', 'bad_parameters', 'message',
      'its template makes ' || coalesce(jsonb_typeof(parameters), 'null') || ', and parameters are an object');
    return;
  end if;
  if parameters ? '...' then
    if jsonb_typeof(parameters -> '...') <> 'object' then
      error := jsonb_build_object('code', 'bad_parameters', 'message', 'its "..." is ' || jsonb_typeof(parameters -> '...') || ', and what is spread is an object');
      return;
    end if;
    parameters := (parameters -> '...') || (parameters - '...');
  end if;
  if jsonb_typeof(schema) = 'object' then
    parameters := platform.with_defaults(schema, parameters);
    v_problems := app.parameter_problems(schema, parameters);
    if v_problems <> '[]' then
      error := jsonb_build_object('code', 'bad_parameters', 'problems', v_problems, 'message', format(
        'its parameters have %s problem(s), first %s %s', jsonb_array_length(v_problems), v_problems -> 0 ->> 'path', v_problems -> 0 ->> 'problem'));
    end if;
  end if;
  if octet_length(parameters::text) > 262144 then
    error := jsonb_build_object('code', 'bad_parameters', 'message', 'its parameters come to more than 262144 bytes; put the data into storage and pass a reference');
  end if;
exception
  when others then
    if left(sqlstate, 2) in ('40', '53', '57', '58') then
      raise;
    end if;
    error := jsonb_build_object('code', 'bad_parameters', 'message', 'its parameters cannot be made: ' || sqlerrm);
end $$;
