-- Records a file that was there already, as it is. One that is recorded stays what it was: ours is not made somebody else's. Recorded by
-- another job it is from now on no single job's: job_id is null, which tells a remover to look for others that have it.
-- request: as for publish_asset
create or replace function app.adopt_asset(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_asset app.assets;
begin
  perform app.wait_briefly();
  insert into app.assets as a (tenant_id, zone, key, name, bytes, sha256, media_type, job_id, stage_id, ordinal, adopted)
  values (
    v_tenant, request ->> 'zone', request ->> 'key', request ->> 'name', (request ->> 'bytes')::bigint,
    request ->> 'sha256', request ->> 'media_type', coalesce(request ->> 'job_id', app.job_of(v_tenant, (request ->> 'stage_id')::bigint)), (request ->> 'stage_id')::bigint,
    (request ->> 'ordinal')::bigint, true)
  on conflict (tenant_id, zone, key) do update
    set bytes = excluded.bytes, sha256 = excluded.sha256, media_type = excluded.media_type,
        job_id = case when a.job_id = excluded.job_id then a.job_id end
    where a.retracted_at is null
  returning a.* into v_asset;
  if not found then
    raise exception 'the file %:% is being removed', request ->> 'zone', left(request ->> 'key', 300)
      using errcode = 'FF006', hint = 'put it there again under another name';
  end if;
  return app.asset_record(v_asset);
exception
  when check_violation or not_null_violation or invalid_text_representation or numeric_value_out_of_range then
    raise exception 'this is not the record of a file: %', sqlerrm using errcode = 'FF002';
end $$;
grant execute on function app.adopt_asset(json) to fanfold_api, fanfold_worker, fanfold_admin;
