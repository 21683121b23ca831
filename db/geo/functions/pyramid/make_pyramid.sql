-- Makes the tiles of a sealed candidate's low zooms: of those at which a tile would have more features than it takes. request: {layer: its name
-- in the tiles, columns, zooms: [{most_features, most_bytes}, …] from zoom 0, extent, buffer}. Gives {zooms, tiles, why?}. May be said
-- twice. A layer can do without: whatever fails here, its statement's time included, leaves none of it and is told as why.
-- Each zoom is made of what is left from the one below it: what is smaller than a cell of the zoom's grid leaves one for each cell, and four
-- cells are one of the next. So nothing that is covered gets holes, and all zooms together cost little more than the deepest.
create or replace function geo.make_pyramid(of_candidate text, request jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
set jit = off
as $$
declare
  c_cells constant integer := 128;
  c_fewest_cells constant integer := 16;
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant, true);
  v_zooms integer;
  v_cells integer := c_cells;
  v_bytes bigint;
  v_tiles integer := 0;
  v_made integer;
  v_fits boolean;
begin
  delete from geo.pyramids p where p.table_name = of_candidate;
  if not (v_candidate.facts #>> '{spec,has_geometry}')::boolean then
    return '{"zooms": 0, "tiles": 0}';
  end if;
  begin
    execute geo.pyramid_places_text(of_candidate, (v_candidate.facts #>> '{spec,srid}')::integer);
    v_zooms := geo.pyramid_zooms(request -> 'zooms');
    if v_zooms > 0 then
      insert into geo.pyramids (table_name, tenant_id, zooms) values (of_candidate, v_tenant, v_zooms);
    end if;
    for v_zoom in reverse v_zooms - 1 .. 0 loop
      -- Never finer than what the zoom below has left, or there would be holes.
      v_cells := least(c_cells, 2 * v_cells);
      loop
        execute geo.pyramid_thinning_text(1 / (2 ^ v_zoom * v_cells));
        drop table pg_temp.pyramid_places;
        alter table pg_temp.pyramid_thinner rename to pyramid_places;
        execute geo.pyramid_tiles_text(v_candidate, request, v_zoom, v_cells) using v_tenant;
        get diagnostics v_made = row_count;
        execute 'select coalesce(max(coalesce(octet_length(t.tile), octet_length(t.features::text))), 0) from geo.pyramid_tiles t where t.table_name = $1 and t.zoom = $2'
          into v_bytes using of_candidate, v_zoom;
        v_fits := v_bytes <= (request #>> array['zooms', v_zoom::text, 'most_bytes'])::bigint;
        exit when v_fits or v_cells <= c_fewest_cells;
        -- Too heavy: a coarser grid for the whole zoom, so that its tiles fit together.
        delete from geo.pyramid_tiles t where t.table_name = of_candidate and t.zoom = v_zoom;
        v_cells := v_cells / 2;
      end loop;
      v_tiles := v_tiles + v_made;
      if not v_fits then
        -- No grid helps against a few heavy features: this zoom and the closer ones are read from the layer, which keeps to the bound.
        v_zooms := v_zoom;
        v_tiles := 0;
        delete from geo.pyramid_tiles t where t.table_name = of_candidate;
        update geo.pyramids p set zooms = v_zooms where p.table_name = of_candidate and v_zooms > 0;
        delete from geo.pyramids p where p.table_name = of_candidate and v_zooms = 0;
      end if;
    end loop;
    drop table pg_temp.pyramid_places;
  exception when query_canceled or others then
    -- Its tables and rows have gone with what was rolled back: the layer is served without.
    return jsonb_build_object('zooms', 0, 'tiles', 0, 'why', sqlerrm);
  end;
  return jsonb_build_object('zooms', v_zooms, 'tiles', v_tiles);
end $$;
grant execute on function geo.make_pyramid(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
