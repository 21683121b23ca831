// A map of features as SVG: longitude to the right, latitude up, a grid of degrees behind. Each feature leads to its page. Pure.
import type { GeoFeature } from "../items.js";
import { Html, html } from "./page.js";

export type Box = [west: number, south: number, east: number, north: number];

const width = 960;
/** A map is looked at: more positions than pixels show nothing more. */
const most_positions = 60_000;

/** In degrees, longitude first. */
export function featureMap(
  features: readonly GeoFeature[],
  box: Box,
  addressOf: (feature: GeoFeature) => string,
): Html {
  const [west, south, east, north] = box;
  // As wide as it looks there, but for the poles.
  const shrink = Math.max(Math.cos((((south + north) / 2) * Math.PI) / 180), 0.2);
  const scale = width / ((east - west) * shrink);
  const height = Math.max(Math.round((north - south) * scale), 1);
  const place = new Placing(([x, y]) => [(x! - west) * shrink * scale, (north - y!) * scale]);
  const drawn = features.map((feature) => {
    const path = place.geometry(feature.geometry);
    if (path === "") return null;
    const is_line = /Line|Point/.test(feature.geometry?.type ?? "") && !/Point/.test(feature.geometry?.type ?? "");
    return html`<a href="${addressOf(feature)}"><title>${feature.id}</title><path class="feature${is_line ? " line" : ""}" d="${path}"/></a>`;
  });
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Map of the features of this page">${gridOf(box, (x, y) => [(x - west) * shrink * scale, (north - y) * scale], height)}${drawn}</svg>`;
}

class Placing {
  private positions = 0;

  constructor(private readonly to: (position: number[]) => [number, number]) {}

  geometry(geometry: GeoFeature["geometry"]): string {
    if (geometry === null) return "";
    const { type, coordinates, geometries } = geometry as { type: string; coordinates: unknown; geometries?: unknown };
    if (type === "GeometryCollection")
      return (geometries as GeoFeature["geometry"][]).map((one) => this.geometry(one)).join("");
    if (type === "Point") return this.dot(coordinates as number[]);
    if (type === "MultiPoint") return (coordinates as number[][]).map((one) => this.dot(one)).join("");
    if (type === "LineString") return this.line(coordinates as number[][], "");
    if (type === "MultiLineString") return (coordinates as number[][][]).map((one) => this.line(one, "")).join("");
    if (type === "Polygon") return (coordinates as number[][][]).map((one) => this.line(one, "Z")).join("");
    return (coordinates as number[][][][]).flatMap((rings) => rings.map((one) => this.line(one, "Z"))).join("");
  }

  private dot(position: number[]): string {
    const [x, y] = this.at(position);
    return `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z`;
  }

  /** Positions that fall on the same pixel are one. */
  private line(positions: number[][], end: string): string {
    if (this.positions > most_positions) return "";
    let path = "";
    let last = "";
    for (const position of positions) {
      const [x, y] = this.at(position);
      const here = `${x} ${y}`;
      if (here === last) continue;
      path += `${path === "" ? "M" : "L"}${here}`;
      last = here;
      this.positions++;
    }
    // All on one pixel: a dot.
    return /L/.test(path) ? path + end : `${path}L${last}`;
  }

  private at(position: number[]): [number, number] {
    const [x, y] = this.to(position);
    return [Math.round(x * 10) / 10, Math.round(y * 10) / 10];
  }
}

const steps = [45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

function gridOf([west, south, east, north]: Box, to: (x: number, y: number) => [number, number], height: number): Html {
  const step = steps.find((one) => (east - west) / one >= 4) ?? 0.0005;
  const lines: Html[] = [];
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let x = Math.ceil(west / step) * step; x <= east; x += step) {
    const [at] = to(x, 0).map(Math.round);
    lines.push(
      html`<path class="grid" d="M${at!} 0V${height}"/><text x="${at! + 2}" y="${height - 3}">${x.toFixed(digits)}°</text>`,
    );
  }
  for (let y = Math.ceil(south / step) * step; y <= north; y += step) {
    const [, at] = to(0, y).map(Math.round);
    lines.push(
      html`<path class="grid" d="M0 ${at!}H${width}"/><text x="2" y="${at! - 2}">${y.toFixed(digits)}°</text>`,
    );
  }
  return new Html(lines.map(({ text }) => text).join(""));
}

/** What the features cover, a little more, and never nothing; null where none has a place. */
export function boxOf(features: readonly GeoFeature[]): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  const walk = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    const [x, y] = value as unknown[];
    if (typeof x !== "number" || typeof y !== "number") {
      for (const one of value) walk(one);
      return;
    }
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  };
  for (const { geometry } of features) {
    walk(geometry?.coordinates);
    for (const one of (geometry as { geometries?: GeoFeature["geometry"][] } | null)?.geometries ?? [])
      walk(one?.coordinates);
  }
  return Number.isFinite(box[0]) ? roomy(box) : null;
}

export function roomy([west, south, east, north]: Box): Box {
  const more = Math.max((east - west) * 0.05, (north - south) * 0.05, 0.01);
  return [
    Math.max(west - more, -180),
    Math.max(south - more, -90),
    Math.min(east + more, 180),
    Math.min(north + more, 90),
  ];
}
