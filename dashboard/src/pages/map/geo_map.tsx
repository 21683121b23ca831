// The map as a component. It, and MapLibre with it, is loaded only where a map is shown.
import "maplibre-gl/dist/maplibre-gl.css";
import { useEffect, useRef, useState } from "react";
import type { FootprintState } from "../../../../src/core/shown/footprints.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { useTheme } from "../../theme/theme.js";
import type { Area } from "./drawn_area.js";
import { type Heard, MapCanvas, type Picture } from "./map_canvas.js";
import { type Hit, type MapBin, type MapBox, type MapItem, placeText } from "./shapes.js";
import type { MapTiles } from "./tile_layers.js";

export interface GeoMapProps {
  label: string;
  boxes?: readonly MapBox[];
  states?: ReadonlyMap<number, FootprintState>;
  selected?: ReadonlySet<number>;
  bins?: readonly MapBin[];
  items?: readonly MapItem[];
  chosen_item?: number | null;
  picture?: Picture | null;
  tiles?: MapTiles | null;
  /** Shown at first, and while nobody has moved the map; with another `again`, whatever the map shows now. `exact`: with nothing around it. */
  fit?: { box: Bounds; again: number; exact?: boolean } | null;
  drawing?: boolean;
  onView?(view: Bounds, zoom: number): void;
  onHover?(hit: Hit | null): void;
  onPick?(hit: Hit | null): void;
  onDraw?(area: Area): void;
}

const none: readonly never[] = [];
const no_states: ReadonlyMap<number, FootprintState> = new Map();
const no_ids: ReadonlySet<number> = new Set();

export function GeoMap(props: GeoMapProps) {
  const { boxes = none, states = no_states, selected = no_ids, bins = none, items = none } = props;
  const { chosen_item = null, picture = null, tiles = null, fit = null, drawing = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<MapCanvas | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const place = useRef<HTMLParagraphElement>(null);
  const fitted = useRef(0);
  const [trouble, setTrouble] = useState<string | null>(null);
  const theme = useTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: one map for the life of the component
  useEffect(() => {
    const container = frame.current!;
    const span = { degrees: 180 };
    const heard: Heard = {
      onView(view, zoom) {
        span.degrees = 180 / 2 ** zoom;
        latest.current.onView?.(view, zoom);
      },
      onHover(hit, at) {
        if (place.current !== null)
          place.current.textContent = at === null ? "" : placeText(at.lon, at.lat, span.degrees);
        latest.current.onHover?.(hit);
      },
      onPick: (hit) => latest.current.onPick?.(hit),
      onDraw: (area) => latest.current.onDraw?.(area),
      onReady: () => {
        container.dataset.ready = "true";
      },
      onTrouble: setTrouble,
    };
    const map = new MapCanvas(container, props.label, heard);
    canvas.current = map;
    return () => {
      canvas.current = null;
      map.remove();
    };
  }, []);
  useEffect(() => canvas.current?.setBoxes(boxes), [boxes]);
  useEffect(() => canvas.current?.setStates(states), [states]);
  useEffect(() => canvas.current?.setSelected(selected), [selected]);
  useEffect(() => canvas.current?.setBins(bins), [bins]);
  useEffect(() => canvas.current?.setItems(items, chosen_item), [items, chosen_item]);
  useEffect(() => canvas.current?.setPicture(picture), [picture]);
  const tiles_key = JSON.stringify(tiles);
  // biome-ignore lint/correctness/useExhaustiveDependencies: by value
  useEffect(() => canvas.current?.setTiles(tiles), [tiles_key]);
  useEffect(() => canvas.current?.setDrawing(drawing), [drawing]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the page when the theme changes
  useEffect(() => canvas.current?.restyle(), [theme]);
  const fit_key = fit === null ? "" : JSON.stringify(fit);
  // biome-ignore lint/correctness/useExhaustiveDependencies: by value
  useEffect(() => {
    if (fit === null) return;
    canvas.current?.fit(fit.box, fit.again > fitted.current, fit.exact);
    fitted.current = Math.max(fitted.current, fit.again);
  }, [fit_key]);

  return (
    <>
      <div ref={frame} className="map-canvas" />
      <p ref={place} className="map-place number" aria-hidden="true" />
      {trouble !== null && <p className="map-trouble note warn">{trouble}</p>}
    </>
  );
}
