// A rectangle drawn on the map: with Shift held, or with the pointer alone while the mode is on, so that fingers can do it too.
import type { Map as MapLibre } from "maplibre-gl";
import type { Bounds } from "../../../../src/geo/raster.js";
import { viewOf } from "./shapes.js";

export interface Area {
  box: Bounds;
  /** To what is selected, with Ctrl, Alt or Meta held. */
  adds: boolean;
}

/** Less than this is a click. */
const LEAST_PX = 5;

export class DrawnArea {
  mode = false;
  is_drawing = false;
  readonly #frame: HTMLElement;
  readonly #mark: HTMLElement;
  #start: { x: number; y: number } | null = null;
  #pointer = -1;

  constructor(
    private readonly map: MapLibre,
    private readonly onDraw: (area: Area) => void,
  ) {
    this.#frame = map.getCanvasContainer();
    this.#mark = document.createElement("div");
    this.#mark.className = "map-drawn";
    this.#mark.hidden = true;
    map.getContainer().append(this.#mark);
    // Before MapLibre's own listeners: what draws must not move the map.
    this.#frame.addEventListener("pointerdown", this.#begin, { capture: true });
    this.#frame.addEventListener("mousedown", this.#keep, { capture: true });
    this.#frame.addEventListener("touchstart", this.#keep, { capture: true, passive: false });
    window.addEventListener("pointermove", this.#move);
    window.addEventListener("pointerup", this.#end);
    window.addEventListener("pointercancel", this.#stop);
    window.addEventListener("keydown", this.#onKey);
  }

  remove(): void {
    window.removeEventListener("pointermove", this.#move);
    window.removeEventListener("pointerup", this.#end);
    window.removeEventListener("pointercancel", this.#stop);
    window.removeEventListener("keydown", this.#onKey);
    this.#mark.remove();
  }

  setMode(mode: boolean): void {
    this.mode = mode;
    this.#frame.classList.toggle("drawing", mode);
    this.map.getCanvas().style.cursor = mode ? "crosshair" : "";
  }

  #place(event: PointerEvent): { x: number; y: number } {
    const { left, top, width, height } = this.map.getCanvas().getBoundingClientRect();
    const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value));
    return { x: clamp(event.clientX - left, width), y: clamp(event.clientY - top, height) };
  }

  #begin = (event: PointerEvent): void => {
    if (event.button !== 0 || !(this.mode || event.shiftKey) || this.#start !== null) return;
    this.#start = this.#place(event);
    this.#pointer = event.pointerId;
    this.map.dragPan.disable();
  };

  /** Once a rectangle has begun, MapLibre hears nothing of it. */
  #keep = (event: Event): void => {
    if (this.#start === null) return;
    event.stopPropagation();
    if (event.cancelable) event.preventDefault();
  };

  #move = (event: PointerEvent): void => {
    if (this.#start === null || event.pointerId !== this.#pointer) return;
    const { x, y } = this.#place(event);
    const [left, top] = [Math.min(x, this.#start.x), Math.min(y, this.#start.y)];
    const [width, height] = [Math.abs(x - this.#start.x), Math.abs(y - this.#start.y)];
    if (!this.is_drawing && Math.max(width, height) < LEAST_PX) return;
    this.is_drawing = true;
    this.#mark.hidden = false;
    Object.assign(this.#mark.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  };

  #end = (event: PointerEvent): void => {
    if (this.#start === null || event.pointerId !== this.#pointer) return;
    const { x, y } = this.#place(event);
    const start = this.#start;
    const was_drawn = this.is_drawing;
    this.#stop();
    if (!was_drawn) return;
    const a = this.map.unproject([Math.min(x, start.x), Math.max(y, start.y)]);
    const b = this.map.unproject([Math.max(x, start.x), Math.min(y, start.y)]);
    this.onDraw({ box: viewOf(a.lng, a.lat, b.lng, b.lat), adds: event.ctrlKey || event.metaKey || event.altKey });
  };

  #stop = (): void => {
    if (this.#start === null) return;
    this.#start = null;
    this.#mark.hidden = true;
    this.map.dragPan.enable();
    // The click that ends it comes after this.
    setTimeout(() => (this.is_drawing = false), 0);
  };

  #onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.#stop();
  };
}
