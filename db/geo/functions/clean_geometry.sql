-- A geometry as layers have it, or why it cannot be one: two-dimensional, valid, of one family, in the CRS of the layer, and within the
-- world where that is in degrees. Lines and polygons are always of several parts, because most sources mix them. What was mended is told.
-- Raises where it cannot be read or transformed.
create or replace function geo.clean_geometry(
  given text, source_srid integer, target_srid integer, is_geographic boolean, keeps_null boolean,
  out geom @postgis@.geometry, out code text, out reason text, out mended text[])
language plpgsql immutable
set search_path = pg_catalog, geo, @postgis@, pg_temp
as $$
declare
  c_slack constant double precision := 1e-9;
  v_type text;
  v_made @postgis@.geometry;
  v_is_valid boolean;
begin
  mended := '{}';
  if given is null then
    if not keeps_null then
      code := 'null_geometry';
      reason := 'has no geometry';
    end if;
    return;
  end if;
  geom := given::geometry;
  if st_isempty(geom) then
    geom := null;
    if not keeps_null then
      code := 'empty_geometry';
      reason := 'has a geometry without points';
    end if;
    return;
  end if;
  geom := st_setsrid(geom, source_srid);
  v_type := st_geometrytype(geom);
  if v_type in ('ST_CircularString', 'ST_CompoundCurve', 'ST_CurvePolygon', 'ST_MultiCurve', 'ST_MultiSurface') then
    geom := st_curvetoline(geom);
    mended := mended || 'linearised'::text;
  elsif v_type in ('ST_PolyhedralSurface', 'ST_Tin', 'ST_Triangle') then
    code := 'unsupported_geometry';
    reason := format('is a %s, which layers do not have', substr(v_type, 4));
    return;
  end if;
  if st_ndims(geom) > 2 then
    geom := st_force2d(geom);
    mended := mended || 'flattened'::text;
  end if;
  if v_type = 'ST_GeometryCollection' then
    geom := st_collectionhomogenize(geom);
    if st_geometrytype(geom) = 'ST_GeometryCollection' then
      code := 'geometry_collection';
      reason := 'is a collection of geometries of several kinds';
      return;
    end if;
    mended := mended || 'homogenised'::text;
  end if;
  v_is_valid := st_isvalid(geom);
  if not v_is_valid and st_isvalidreason(geom) ilike 'invalid coordinate%' then
    code := 'not_finite';
    reason := st_isvalidreason(geom);
    return;
  end if;
  if source_srid <> target_srid then
    geom := st_transform(geom, target_srid);
  end if;
  if is_geographic then
    if st_ymin(geom) < -90 - c_slack or st_ymax(geom) > 90 + c_slack or st_xmin(geom) < -540 or st_xmax(geom) > 540 then
      code := 'out_of_range';
      reason := format('lies outside the world: %s', st_astext(st_envelope(geom), 3));
      return;
    end if;
    if st_dimension(geom) > 0 and st_xmax(geom) - st_xmin(geom) > 180 and st_xmin(geom) >= -180 - c_slack
      and st_xmax(geom) <= 180 + c_slack and geo.has_jump(geom) then
      -- Made valid before its rings run on, a polygon over the antimeridian would be the rest of the world.
      v_made := geo.cut_jumps(geom);
      if v_made is null then
        mended := mended || 'around_a_pole'::text;
      else
        geom := v_made;
        v_is_valid := st_isvalid(geom);
        mended := mended || 'split'::text;
      end if;
    end if;
  end if;
  if not v_is_valid then
    v_made := st_collectionextract(st_makevalid(geom), st_dimension(geom) + 1);
    if st_isempty(v_made) or not st_isvalid(v_made) then
      code := 'invalid_geometry';
      reason := st_isvalidreason(geom);
      return;
    end if;
    geom := v_made;
    mended := mended || 'made_valid'::text;
  end if;
  if is_geographic and (st_xmin(geom) < -180 - c_slack or st_xmax(geom) > 180 + c_slack) then
    -- What is cut in two may come as a collection.
    geom := st_collectionextract(st_wrapx(st_wrapx(geom, 180, -360), -180, 360), st_dimension(geom) + 1);
    mended := mended || 'wrapped'::text;
  end if;
  if st_dimension(geom) > 0 then
    geom := st_multi(geom);
  end if;
end $$;
