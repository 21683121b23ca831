// The map itself: MapLibre with our ground and our layers, told what to show. React stays outside: what changes often (the state of
// each box) is set box by box, and the geometry is handed over only when there is another.
import { type GeoJSONSource, Map as MapLibre, NavigationControl, ScaleControl, setWorkerUrl } from "maplibre-gl";
import worker_url from "maplibre-gl/dist/maplibre-gl-worker.mjs?url";
import { type FootprintState, footprint_states } from "../../../../src/core/shown/footprints.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { baseColours, baseStyle, landOf } from "./base_map.js";
import { type Area, DrawnArea } from "./drawn_area.js";
import { boxLayers, hatch, layerColours } from "./layers.js";
import {
  collectionOf,
  type Hit,
  type MapBin,
  type MapBox,
  type MapItem,
  missing_states,
  polygonOf,
  unbroken,
  viewOf,
} from "./shapes.js";
import { type MapTiles, ShownTiles } from "./tile_layers.js";
import type { TilesPicture } from "./tiles_on_map.js";

// A file of our own: a worker made of a blob would need a hole in the Content-Security-Policy.
setWorkerUrl(new URL(worker_url, import.meta.url).href);

/** From here on the fine coast is worth its size. */
const FINE_FROM_ZOOM = 4.5;
/** Around the pointer, in pixels: small boxes can be hit too. */
const REACH = 3;
const hit_layers = { boxes: ["missing-fill", "boxes-fill"], bins: ["bins-fill"], items: ["items-fill"] } as const;

/** Tiles, or a picture laid over its place. */
export type Picture = TilesPicture | PlacedPicture;

export interface PlacedPicture {
  image: ImageBitmap;
  /** North-west, north-east, south-east, south-west. */
  corners: [[number, number], [number, number], [number, number], [number, number]];
}

export interface Heard {
  onView(view: Bounds, zoom: number): void;
  onHover(hit: Hit | null, at: { lon: number; lat: number } | null): void;
  onPick(hit: Hit | null): void;
  onDraw(area: Area): void;
  /** Everything has been drawn once. */
  onReady(): void;
  onTrouble(text: string): void;
}

export class MapCanvas {
  readonly #map: MapLibre;
  readonly #heard: Heard;
  readonly #drawn: DrawnArea;
  readonly #loaded: Promise<void>;
  readonly #size: ResizeObserver;
  #states = new Map<number, FootprintState>();
  #selected = new Set<number>();
  #boxes: readonly MapBox[] = [];
  readonly #tiles: ShownTiles;
  #moved_by_user = false;
  #fitted: { box: Bounds; is_exact: boolean } | null = null;
  #is_fine = false;
  #pointer: { x: number; y: number } | null = null;
  #looking = 0;

  constructor(container: HTMLElement, label: string, heard: Heard) {
    this.#heard = heard;
    this.#map = new MapLibre({
      container,
      style: baseStyle(),
      center: [10, 25],
      zoom: 0.6,
      minZoom: -0.5,
      maxZoom: 19,
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      boxZoom: false,
      // Nothing has a text on it.
      localIdeographFontFamily: false,
      locale: { "Map.Title": label },
      fadeDuration: 0,
      cancelPendingTileRequestsWhileZooming: false,
      trackResize: false,
      // Tiles are asked for as everything else of ours is: by the session, and as a page of its own.
      transformRequest: (url) => ({ url, headers: { "x-fanfold-request": "1" }, credentials: "same-origin" }),
    });
    const map = this.#map;
    // MapLibre's own watch passes over the first size it sees: a map that was made before its place had one kept the wrong one.
    this.#size = new ResizeObserver(() => {
      if (container.clientWidth > 0) map.resize();
    });
    this.#size.observe(container);
    map.touchZoomRotate.disableRotation();
    map.keyboard.disableRotation();
    map.addControl(new NavigationControl({ showCompass: false }), "top-right");
    map.addControl(new ScaleControl({ maxWidth: 90 }), "bottom-left");
    this.#tiles = new ShownTiles(map);
    this.#drawn = new DrawnArea(map, (area) => heard.onDraw(area));
    this.#loaded = new Promise((resolve) => {
      map.once("style.load", () => {
        this.#addLayers();
        resolve();
      });
    });
    map.once("idle", () => heard.onReady());
    map.on("error", ({ error }) => heard.onTrouble(error.message));
    // By hand, wheel, keys or buttons; what we do ourselves has no event behind it.
    map.on("movestart", (event) => {
      if ("originalEvent" in event && event.originalEvent !== undefined) this.#moved_by_user = true;
    });
    map.on("moveend", () => this.#tellView());
    map.on("mousemove", ({ point }) => this.#look(point));
    map.on("mouseout", () => {
      this.#pointer = null;
      heard.onHover(null, null);
    });
    map.on("click", (event) => {
      if (this.#drawn.is_drawing) return;
      const is_touch = (event.originalEvent as PointerEvent).pointerType === "touch";
      heard.onPick(this.#hitAt(event.point, is_touch));
    });
    map.on("resize", () => {
      if (this.#fitted !== null) this.fit(this.#fitted.box, false, this.#fitted.is_exact);
    });
    map.once("load", () => this.#tellView());
    // Asked for before the first picture is drawn.
    void this.#loaded.then(() => this.#bringLand("coarse"));
  }

  remove(): void {
    cancelAnimationFrame(this.#looking);
    this.#size.disconnect();
    this.#drawn.remove();
    this.#map.remove();
  }

  /** Geometry of all boxes; their states are told by setStates. */
  setBoxes(boxes: readonly MapBox[]): void {
    this.#boxes = boxes;
    void this.#loaded.then(() => {
      this.#source("boxes").setData(collectionOf(boxes.map(({ id, box }) => ({ id, geometry: polygonOf(box) }))));
      this.#showMissing();
    });
  }

  setStates(states: ReadonlyMap<number, FootprintState>): void {
    void this.#loaded.then(() => {
      let are_others_missing = false;
      for (const [id, state] of states) {
        const before = this.#states.get(id);
        if (before === state) continue;
        if (missing_states.has(state) || (before !== undefined && missing_states.has(before)))
          are_others_missing = true;
        this.#map.setFeatureState({ source: "boxes", id }, { s: footprint_states.indexOf(state) });
      }
      this.#states = new Map(states);
      if (are_others_missing) this.#showMissing();
    });
  }

  #showMissing(): void {
    const missing = this.#boxes.flatMap(({ id, box }) => {
      const state = this.#states.get(id);
      if (state === undefined || !missing_states.has(state)) return [];
      return [{ id, geometry: polygonOf(box), properties: { state } }];
    });
    this.#source("missing").setData(collectionOf(missing));
  }

  setSelected(ids: ReadonlySet<number>): void {
    void this.#loaded.then(() => {
      for (const id of this.#selected) {
        if (!ids.has(id)) this.#map.setFeatureState({ source: "boxes", id }, { sel: false });
      }
      for (const id of ids) {
        if (!this.#selected.has(id)) this.#map.setFeatureState({ source: "boxes", id }, { sel: true });
      }
      this.#selected = new Set(ids);
    });
  }

  setBins(bins: readonly MapBin[]): void {
    const most = Math.max(1, ...bins.map(({ count }) => count));
    const shapes = bins.map(({ id, box, state, count, selected }) => ({
      id,
      geometry: polygonOf(box),
      properties: { state, s: footprint_states.indexOf(state), share: Math.sqrt(count / most), selected },
    }));
    void this.#loaded.then(() => this.#source("bins").setData(collectionOf(shapes)));
  }

  setItems(items: readonly MapItem[], chosen: number | null): void {
    const shapes = items.map(({ id, geometry }) => ({ id, geometry, properties: { chosen: id === chosen } }));
    void this.#loaded.then(() => this.#source("items").setData(collectionOf(shapes)));
  }

  setPicture(picture: Picture | null): void {
    void this.#loaded.then(() => {
      const map = this.#map;
      if (map.getLayer("picture")) map.removeLayer("picture");
      if (map.getSource("picture")) map.removeSource("picture");
      if (picture === null) return;
      if ("template" in picture) {
        const { template, ...place } = picture;
        map.addSource("picture", { type: "raster", tiles: [template], tileSize: 256, ...place });
      } else {
        // Drawn from memory: an image with an address would be fetched.
        const canvas = document.createElement("canvas");
        canvas.width = picture.image.width;
        canvas.height = picture.image.height;
        canvas.getContext("2d")?.drawImage(picture.image, 0, 0);
        map.addSource("picture", { type: "canvas", canvas, coordinates: picture.corners, animate: false });
      }
      map.addLayer(
        {
          id: "picture",
          type: "raster",
          source: "picture",
          paint: { "raster-fade-duration": 0, "raster-opacity": 0.95 },
        },
        "items-line",
      );
    });
  }

  setTiles(tiles: MapTiles | null): void {
    void this.#loaded.then(() => this.#tiles.show(tiles));
  }

  setDrawing(is_drawing: boolean): void {
    this.#drawn.setMode(is_drawing);
  }

  /** `force`: also when the person has moved the map. */
  fit(box: Bounds, force: boolean, is_exact = false): void {
    this.#fitted = { box, is_exact };
    if (this.#moved_by_user && !force) return;
    const [west, south, east, north] = unbroken(box);
    const { clientWidth: width } = this.#map.getContainer();
    this.#map.fitBounds(
      [
        [west, Math.max(-85, south)],
        [east, Math.min(85, north)],
      ],
      { padding: is_exact ? 0 : width < 500 ? 24 : 48, maxZoom: is_exact ? 19 : 14, duration: force ? 300 : 0 },
    );
  }

  restyle(): void {
    void this.#loaded.then(() => {
      for (const [layer, property, value] of [...baseColours(), ...layerColours()]) {
        this.#map.setPaintProperty(layer, property as "fill-color", value as string);
      }
      for (const state of missing_states) this.#map.updateImage(`hatch-${state}`, hatch(state));
      this.#tiles.restyle();
    });
  }

  #addLayers(): void {
    const map = this.#map;
    const empty = { type: "geojson", data: collectionOf([]) } as const;
    // Without tolerance, boxes smaller than a pixel are kept, and drawn as a dot by their outline.
    for (const source of ["bins", "boxes", "missing", "items"]) map.addSource(source, { ...empty, tolerance: 0 });
    for (const state of missing_states) map.addImage(`hatch-${state}`, hatch(state), { pixelRatio: 2 });
    for (const layer of boxLayers()) map.addLayer(layer);
  }

  #source(name: string): GeoJSONSource {
    return this.#map.getSource<GeoJSONSource>(name)!;
  }

  #tellView(): void {
    const bounds = this.#map.getBounds();
    const zoom = this.#map.getZoom();
    if (zoom >= FINE_FROM_ZOOM && !this.#is_fine) void this.#bringLand("fine");
    this.#heard.onView(viewOf(bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()), zoom);
  }

  async #bringLand(detail: "coarse" | "fine"): Promise<void> {
    if (detail === "fine") this.#is_fine = true;
    try {
      const { land, coast } = await landOf(detail);
      if (detail === "coarse" && this.#is_fine) return;
      this.#source("land").setData(land);
      this.#source("coast").setData(coast);
    } catch (error) {
      // Without land the boxes are where they are all the same.
      if (detail === "fine") this.#is_fine = false;
      else this.#heard.onTrouble(`The base map cannot be loaded: ${(error as Error).message}`);
    }
  }

  #look(point: { x: number; y: number }): void {
    if (this.#pointer === null && this.#looking !== 0) cancelAnimationFrame(this.#looking);
    this.#pointer = point;
    if (this.#looking !== 0) return;
    this.#looking = requestAnimationFrame(() => {
      this.#looking = 0;
      if (this.#pointer === null || this.#drawn.is_drawing) return;
      const hit = this.#hitAt(this.#pointer, false);
      const { lng: lon, lat } = this.#map.unproject([this.#pointer.x, this.#pointer.y]).wrap();
      this.#map.getCanvas().style.cursor = this.#drawn.mode ? "crosshair" : hit === null ? "" : "pointer";
      this.#heard.onHover(hit, { lon, lat });
    });
  }

  #hitAt({ x, y }: { x: number; y: number }, is_touch: boolean): Hit | null {
    const reach = is_touch ? 8 : REACH;
    // What is right under the pointer first; beside it only where there is nothing.
    for (const around of [0, reach]) {
      for (const [kind, layers] of Object.entries({ ...hit_layers, features: this.#tiles.layers })) {
        if (layers.length === 0) continue;
        const area: [[number, number], [number, number]] = [
          [x - around, y - around],
          [x + around, y + around],
        ];
        const found = this.#map.queryRenderedFeatures(area, { layers: [...layers] });
        const ids = [...new Set(found.map(({ id }) => Number(id)))];
        if (ids.length > 0) return { kind: kind as Hit["kind"], ids, x, y, is_touch };
      }
    }
    return null;
  }
}
