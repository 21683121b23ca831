// The features of a layer: live on a map, by their tiles, and in a table; filtered alike, drawn by a column. All that is chosen is in the
// page's address, so that its link shows another person the same.
import { useRef, useState } from "react";
import type { LayerStyle } from "../../../../src/core/api/layers.js";
import { footprintBox } from "../../../../src/geo/boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import type { ApiProblem } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { useQueryState } from "../../routes.js";
import { Button, Checkbox, ProblemNote } from "../../ui/index.js";
import { LazyMap } from "../map/lazy_map.js";
import { boxAround, type Hit, withSurroundings } from "../map/shapes.js";
import type { MapTiles } from "../map/tile_layers.js";
import { FeatureCard } from "./feature_card.js";
import { FeatureTable } from "./feature_table.js";
import { tileAddress, useFeature, useFeatures, useMatched } from "./features.js";
import { FilterForm } from "./filter_form.js";
import { keptStyle } from "./kept_style.js";
import type { WholeLayer } from "./layer_page.js";
import { useSettled } from "./settled.js";
import { ShareDialog } from "./share_dialog.js";
import { isChosen, no_choice, styleOf } from "./style_classes.js";
import { StylePanel } from "./style_panel.js";

const nothing_asked = { filter: "", sort: "", view: "", only: "", feature: "", ...no_choice };

export function MapTab({ layer }: { layer: WholeLayer }) {
  const [query, setQuery] = useQueryState(nothing_asked);
  const [sharing, setSharing] = useState(false);
  const has_places = layer.geometry_type !== null;
  const { name, version } = layer;
  const filter = useSettled(query.filter.trim());
  const search = { filter, sort: query.sort, bbox: query.only === "view" && has_places ? viewOf(query.view) : null };
  const found = useFeatures(name, version, search);
  const is_filtered = filter !== "" || search.bbox !== null;
  // Counted once the server has taken the filter.
  const counted = useMatched(name, version, search, is_filtered && found.error === null && !found.isPlaceholderData);
  const trouble = filterTrouble(found.error);
  const chosen = /^\d{1,15}$/.test(query.feature) ? Number(query.feature) : null;
  const feature = useFeature(name, version, chosen);
  const { style, sampled } = useStyle(layer, query);
  const box = footprintBox(layer.extent);
  const [fit, setFit] = useState(() => {
    const start = viewOf(query.view);
    return start === null ? { box, again: 0, exact: false } : { box: start, again: 0, exact: true };
  });
  const show = (wanted: Bounds) => setFit({ box: wanted, again: fit.again + 1, exact: false });
  const around = boxAround(feature.data?.geometry ?? null);
  // What the server has not taken yet is not asked of it tile by tile.
  const taken = useRef<string | null>(filter === "" ? "" : null);
  if (found.isSuccess && !found.isPlaceholderData) taken.current = filter;
  const tiles: MapTiles | null =
    taken.current === null
      ? null
      : { url: tileAddress(layer, taken.current, style?.column ?? null), layer: name, style, chosen };
  const choose = (id: number | null) => setQuery({ feature: id === null ? "" : String(id) }, { replace: true });
  return (
    <>
      <FilterForm
        layer={layer}
        filter={query.filter}
        problem={trouble}
        onFilter={(text) => setQuery({ filter: text }, { replace: true })}
      />
      {has_places && (
        <div className="layers-map">
          <LazyMap
            label={`Features of ${name}`}
            tiles={tiles}
            fit={fit.box === null ? null : { ...fit, box: fit.box }}
            onView={(view) => setQuery({ view: view.map((edge) => edge.toFixed(4)).join() }, { replace: true })}
            onPick={(hit: Hit | null) => choose(hit?.ids[0] ?? null)}
          >
            {chosen !== null && (
              <FeatureCard
                id={chosen}
                feature={feature.data}
                error={feature.error}
                onClose={() => choose(null)}
                onZoom={around === null ? null : () => show(withSurroundings(around))}
              />
            )}
          </LazyMap>
          <StylePanel
            layer={layer}
            style={style}
            choice={query}
            is_chosen={isChosen(styleChoice(query))}
            onChoice={(choice) => setQuery(choice, { replace: true })}
            sampled={sampled}
          />
        </div>
      )}
      <div className="row layers-tools">
        {has_places && (
          <Checkbox
            label="Only what the map shows"
            checked={query.only === "view"}
            onChange={({ target }) => setQuery({ only: target.checked ? "view" : "" })}
          />
        )}
        <span className="ends row">
          {has_places && box !== null && (
            <Button
              onClick={() => {
                choose(null);
                show(box);
              }}
            >
              Show all
            </Button>
          )}
          <Button onClick={() => setSharing(true)}>Share</Button>
        </span>
      </div>
      {found.error !== null && trouble === null && (
        <ProblemNote error={found.error} title="The features cannot be read" />
      )}
      <FeatureTable
        layer={layer}
        found={found}
        sort={query.sort}
        chosen={chosen}
        is_filtered={is_filtered}
        matched={is_filtered ? counted.data : found.data?.[0]?.numberMatched}
        onSort={(sort) => setQuery({ sort }, { replace: true })}
        onChoose={choose}
      />
      {sharing && <ShareDialog layer={layer} filter={filter} onClose={() => setSharing(false)} />}
    </>
  );
}

type Asked = typeof nothing_asked;

function styleChoice(query: Asked) {
  return Object.fromEntries(
    Object.keys(no_choice).map((key) => [key, query[key as keyof typeof no_choice]]),
  ) as typeof no_choice;
}

/** What the address says, else what the layer has. Who only changes how strongly it is drawn keeps the layer's colours. */
function useStyle(layer: WholeLayer, query: Asked): { style: LayerStyle | null; sampled: boolean } {
  const choice = styleChoice(query);
  const column = layer.columns.find(({ name }) => name === choice.by);
  const kept = keptStyle(layer);
  const keeps_colours =
    kept !== null &&
    choice.by === (kept.column ?? "") &&
    [choice.how, choice.classes, choice.palette, choice.colour].every((one) => one === "");
  const { data } = useGet(
    "layers.column",
    { layer_id: layer.name, column_name: choice.by },
    { enabled: column !== undefined && !keeps_colours },
  );
  if (!isChosen(choice)) return { style: kept, sampled: false };
  if (keeps_colours) {
    const { opacity, width } = styleOf(
      { ...no_choice, opacity: choice.opacity, width: choice.width },
      null,
      undefined,
    )!;
    const given = { ...(choice.opacity === "" ? {} : { opacity }), ...(choice.width === "" ? {} : { width }) };
    return { style: { ...kept, ...given }, sampled: false };
  }
  return { style: styleOf(choice, column?.type ?? null, data) ?? kept, sampled: data?.sampled === true };
}

function viewOf(text: string): Bounds | null {
  const edges = text.split(",").map(Number);
  return text !== "" && edges.length === 4 ? footprintBox(edges) : null;
}

/** What is wrong with the filter, where that is what the server refused. */
function filterTrouble(error: ApiProblem | null): string | null {
  const found = error?.problems.filter(({ path }) => /filter/.test(path)) ?? [];
  if (found.length === 0) return null;
  return found.map(({ problem, fix }) => [problem, fix].filter(Boolean).join(". ")).join("; ");
}
