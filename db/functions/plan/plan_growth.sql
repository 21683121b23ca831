-- What the values of the job's parameters that a data plan's templates name come to in all of its tasks, in bytes.
create or replace function app.plan_growth(stage app.stages, job app.jobs, tasks bigint)
returns bigint
language sql stable
as $$
  select tasks * coalesce(sum(pg_column_size(jsonb_build_array(job.parameters #> (string_to_array(btrim(n), '.'))[2:]))), 0)::bigint
    from unnest(app.template_names(stage.plan - 'each' - 'count')) n
   where split_part(btrim(n), '.', 1) = 'parameters'
$$;
