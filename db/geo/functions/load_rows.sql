-- The rows of a stage, or the one with this number, into the candidate or the rejects. Gives the counts of both. Raises at a row that
-- cannot be read or cast, and then nothing has happened.
create or replace function geo.load_rows(candidate geo.tables, of_stage text, request jsonb, only_row bigint)
returns jsonb
language plpgsql
as $$
declare
  v_has_geometry boolean := (candidate.facts #>> '{spec,has_geometry}')::boolean;
  v_target integer := (candidate.facts #>> '{spec,srid}')::integer;
  v_is_geographic boolean := coalesce(
    (select r.srtext ~* '^(GEOGCS|GEOGCRS)' from @postgis@.spatial_ref_sys r where r.srid = v_target), false);
  v_names text;
  v_values text;
  v_shown text;
  v_facts jsonb;
begin
  select
    coalesce(string_agg(format(', %I', c ->> 'name'), '' order by n), ''),
    coalesce(string_agg(', ' || geo.cast_text('r.c' || (c ->> 'at')::integer, c ->> 'pg_type', c ->> 'kind'), '' order by n), ''),
    coalesce(string_agg(format('%L, left(r.c%s, 200)', left(c ->> 'source_name', 200), (c ->> 'at')::integer), ', ' order by n) filter (where n <= 40), '')
    into v_names, v_values, v_shown
    from jsonb_array_elements(request -> 'columns') with ordinality a (c, n);
  execute format($q$
    with cleaned as materialized (
      select s.*, c.geom, c.code, c.reason, c.mended
        from geo.%1$I s
        -- Read once: without "offset" it would be written out wherever it is named.
        cross join lateral (select case when $7 then @postgis@.st_setsrid(s.g::@postgis@.geometry, $1) end as geom offset 0) r
        cross join lateral (select $1 = $2 and geo.is_plain(r.geom, $3) as is_plain offset 0) p
        cross join lateral (
          select case when @postgis@.st_dimension(r.geom) = 0 then r.geom else @postgis@.st_multi(r.geom) end as geom,
              null::text as code, null::text as reason, '{}'::text[] as mended
           where p.is_plain
          union all
          select m.geom, m.code, m.reason, m.mended from geo.clean_geometry(case when $7 then s.g end, $1, $2, $3, $4) m where not p.is_plain
        ) c
       where $5 is null or s.n = $5
    ), loaded as (
      insert into geo.%2$I (fid%3$s%4$s)
      select r.n%5$s%6$s from cleaned r where r.code is null order by r.n
      returning 1
    ), rejected as (
      insert into geo.rejects (tenant_id, job_id, layer, chunk, row_number, source, code, reason, properties)
      select $6 ->> 'tenant', $6 ->> 'job', $6 ->> 'layer', ($6 ->> 'chunk')::integer, r.n, $6 ->> 'source', r.code, r.reason, jsonb_build_object(%7$s)
        from cleaned r where r.code is not null
      returning code
    )
    select jsonb_build_object(
      'row_count', (select count(*) from loaded),
      'rejected_count', (select count(*) from rejected),
      'codes', (select coalesce(jsonb_object_agg(k.code, k.count), '{}') from (select code, count(*) from rejected group by code) k),
      'types', (select coalesce(jsonb_object_agg(k.type, k.count), '{}')
                  from (select substr(@postgis@.st_geometrytype(r.geom), 4) as type, count(*) from cleaned r where r.code is null and r.geom is not null group by 1) k),
      'mended', (select coalesce(jsonb_object_agg(k.mended, k.count), '{}')
                   from (select m as mended, count(*) from cleaned r, unnest(r.mended) m where r.code is null group by 1) k)) $q$,
    of_stage, candidate.table_name, v_names, case when v_has_geometry then ', geom' else '' end,
    v_values, case when v_has_geometry then ', r.geom' else '' end, v_shown)
    into v_facts
    using coalesce((request ->> 'source_srid')::integer, v_target), v_target, v_is_geographic,
      not v_has_geometry or coalesce((request ->> 'keeps_null')::boolean, false), only_row,
      jsonb_build_object('tenant', candidate.tenant_id, 'job', candidate.job_id, 'layer', candidate.facts ->> 'layer',
        'chunk', request -> 'chunk', 'source', request -> 'source'),
      v_has_geometry;
  return v_facts;
end $$;
