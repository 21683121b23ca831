// How boxes, bins and items look. Colours are those of the statuses everywhere; what is missing is hatched and drawn above, so that it
// stands out without its colour too.
import type { ExpressionSpecification, LayerSpecification } from "maplibre-gl";
import { type FootprintState, footprint_states } from "../../../../src/core/shown/footprints.js";
import { colourOf, task_look } from "../../status.js";
import { missing_states } from "./shapes.js";

const state: ExpressionSpecification = ["coalesce", ["feature-state", "s"], 0];
const of_bin: ExpressionSpecification = ["get", "s"];
const is_chosen: ExpressionSpecification = ["boolean", ["get", "chosen"], false];

function byState(value: ExpressionSpecification): ExpressionSpecification {
  const colours = footprint_states.map((one) => colourOf(task_look[one].colour));
  const cases = colours.flatMap((colour, code): [number, string] => [code, colour]);
  return ["match", value, ...cases, colours[0]!] as unknown as ExpressionSpecification;
}

const running = footprint_states.indexOf("processing");

export function boxLayers(): LayerSpecification[] {
  const colours = Object.fromEntries(layerColours().map(([layer, property, value]) => [`${layer} ${property}`, value]));
  const of = (layer: string, property: string) => ({ [property]: colours[`${layer} ${property}`] });
  return [
    {
      id: "bins-fill",
      type: "fill",
      source: "bins",
      paint: {
        ...of("bins-fill", "fill-color"),
        "fill-opacity": ["interpolate", ["linear"], ["get", "share"], 0, 0.35, 1, 0.9],
      },
    },
    {
      id: "bins-missing",
      type: "fill",
      source: "bins",
      filter: ["in", ["get", "state"], ["literal", [...missing_states]]],
      paint: { "fill-pattern": ["concat", "hatch-", ["get", "state"]] },
    },
    {
      id: "bins-line",
      type: "line",
      source: "bins",
      filter: ["boolean", ["get", "selected"], false],
      paint: { ...of("bins-line", "line-color"), "line-width": 2 },
    },
    {
      id: "boxes-fill",
      type: "fill",
      source: "boxes",
      paint: { ...of("boxes-fill", "fill-color"), "fill-opacity": 0.55 },
    },
    {
      id: "boxes-line",
      type: "line",
      source: "boxes",
      paint: {
        ...of("boxes-line", "line-color"),
        "line-width": ["case", ["==", state, running], 2.2, 1.2],
      },
    },
    {
      id: "missing-fill",
      type: "fill",
      source: "missing",
      paint: { "fill-pattern": ["concat", "hatch-", ["get", "state"]] },
    },
    {
      id: "missing-line",
      type: "line",
      source: "missing",
      paint: { ...of("missing-line", "line-color"), "line-width": 2.2 },
    },
    {
      id: "items-fill",
      type: "fill",
      source: "items",
      paint: { ...of("items-fill", "fill-color"), "fill-opacity": ["case", is_chosen, 0.1, 0.22] },
    },
    {
      id: "items-line",
      type: "line",
      source: "items",
      paint: { ...of("items-line", "line-color"), "line-width": ["case", is_chosen, 3, 1.4] },
    },
    {
      id: "boxes-selected",
      type: "line",
      source: "boxes",
      paint: {
        ...of("boxes-selected", "line-color"),
        "line-width": 2,
        "line-opacity": ["case", ["boolean", ["feature-state", "sel"], false], 1, 0],
      },
    },
  ] as LayerSpecification[];
}

/** By layer: what the theme colours. */
export function layerColours(): [layer: string, property: string, value: ExpressionSpecification | string][] {
  const missing = ["match", ["get", "state"], "cancelled", colourOf("--st-cancelled"), colourOf("--st-failed")];
  return [
    ["bins-fill", "fill-color", byState(of_bin)],
    ["bins-line", "line-color", colourOf("--st-selected")],
    ["boxes-fill", "fill-color", byState(state)],
    ["boxes-line", "line-color", byState(state)],
    ["missing-line", "line-color", missing as ExpressionSpecification],
    ["items-fill", "fill-color", colourOf("--accent")],
    ["items-line", "line-color", colourOf("--accent")],
    ["boxes-selected", "line-color", colourOf("--st-selected")],
  ];
}

/** Stripes for what failed, a lattice of dots for what was cancelled: told apart without colour. */
export function hatch(of: FootprintState): ImageData {
  const size = 16;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const draw = canvas.getContext("2d", { willReadFrequently: true })!;
  const colour = colourOf(task_look[of].colour);
  draw.globalAlpha = 0.45;
  draw.fillStyle = colour;
  draw.fillRect(0, 0, size, size);
  draw.globalAlpha = 1;
  draw.strokeStyle = colour;
  draw.lineWidth = 4;
  if (of === "failed") {
    for (const at of [-size, 0, size]) {
      draw.beginPath();
      draw.moveTo(at, size);
      draw.lineTo(at + size, 0);
      draw.stroke();
    }
  } else {
    for (const [x, y] of [
      [4, 4],
      [12, 12],
    ] as const) {
      draw.beginPath();
      draw.arc(x, y, 2.6, 0, 7);
      draw.fill();
    }
  }
  return draw.getImageData(0, 0, size, size);
}
