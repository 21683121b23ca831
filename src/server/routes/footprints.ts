// Where tasks are: boxes one by one, or a grid of them.
import type { z } from "zod";
import { footprints_api, type footprints as footprints_reply, most_boxes } from "../../core/api/footprints.js";
import { BadRequest } from "../../core/errors/errors.js";
import { footprint_letters, footprint_states } from "../../core/shown/footprints.js";
import { binBoxes, binOf, gridOver } from "../../geo/box_bins.js";
import { footprintBox } from "../../geo/boxes.js";
import { box_scale, packBoxes, packLetters, parseOrdinals, rangesOf } from "../../geo/packed_boxes.js";
import type { Bounds } from "../../geo/raster.js";
import { routes } from "../http/route.js";
import type { StageFootprints } from "../jobs/footprints.js";
import { unlessKnown } from "./stac/etag.js";

const most_retried = 5000;

type Reply = z.output<typeof footprints_reply>;

export const footprintsRoutes = () =>
  routes(footprints_api, {
    async footprints({ engine, service, params, query, request, reply }) {
      const view = query.bbox === undefined ? null : areaOf(query.bbox);
      const selected = query.selected === undefined ? null : selectionOf(query.selected);
      const found = await service.footprints.of(engine, params.job_id, query.stage);
      const answer = answerOf(found, view, selected, query.since);
      return unlessKnown(request, reply, answer) as Reply;
    },
    async within({ engine, service, params, query }) {
      const area = areaOf(query.bbox);
      const { stage_id, boxes } = await service.footprints.of(engine, params.job_id, query.stage);
      const ordinals = boxes.touching(area);
      return { stage_id, count: ordinals.length, ranges: rangesOf(ordinals) };
    },
  });

function answerOf(
  found: StageFootprints,
  view: Bounds | null,
  selected: [number, number][] | null,
  since: string | undefined,
): Reply {
  const { job_id, stage_id, stage, status, total, planned, unusable, unread, boxes, states, attempts } = found;
  // Few boxes are all sent, wherever the caller looks: then moving the map asks for nothing.
  const is_few = boxes.order.length <= most_boxes;
  const shown = is_few || view === null ? boxes.order : boxes.touching(view);
  const kind = shown.length <= most_boxes ? "boxes" : "bins";
  const counts = new Array<number>(footprint_states.length).fill(0);
  for (const ordinal of boxes.order) counts[states[ordinal]!]!++;
  const name = `${found.plan}${is_few || view === null ? "" : `.${view.join()}`}`;
  const known = sentBefore(since, name, shown.length);
  const of_selected =
    selected === null ? [] : selected.flatMap(([lo, hi]) => boxesBetween(boxes, lo, Math.min(hi, total)));
  return {
    job_id,
    stage_id,
    stage,
    status,
    total,
    with_box: boxes.order.length,
    planned,
    unusable,
    unread,
    in_view: shown.length,
    extent: boxes.extent(),
    counts,
    since: `${name}:${shown.length}`,
    kind,
    scale: box_scale,
    from: kind === "boxes" ? known : 0,
    boxes: kind === "boxes" ? packBoxes(boxes, shown.slice(known)) : null,
    states: kind === "boxes" ? packLetters(lettersOf(shown, states)) : "",
    retried: kind === "boxes" ? retriedIn(shown, attempts) : [],
    bins: kind === "bins" ? binsOf(found, shown, of_selected) : null,
    selected: selected === null ? null : { count: of_selected.length, extent: boxes.extentOf(of_selected) },
  };
}

function binsOf({ boxes, states }: StageFootprints, shown: readonly number[], selected: readonly number[]) {
  const grid = gridOver(shown === boxes.order ? boxes.extent()! : boxes.extentOf(shown)!);
  const bins = binBoxes(boxes, shown, grid, (ordinal) => states[ordinal]!, footprint_states.length);
  if (selected.length === 0) return { ...bins, selected: [] };
  const in_bins = new Map<number, number>();
  for (const ordinal of selected) {
    const bin = binOf(grid, boxes.get(ordinal)!);
    in_bins.set(bin, (in_bins.get(bin) ?? 0) + 1);
  }
  return { ...bins, selected: bins.column.map((column, i) => in_bins.get(bins.row[i]! * grid.columns + column) ?? 0) };
}

/** How many of these boxes the caller has; none when what it has is another plan or another view. */
function sentBefore(since: string | undefined, name: string, count: number): number {
  if (since === undefined) return 0;
  const at = since.lastIndexOf(":");
  const known = Number(since.slice(at + 1));
  return since.slice(0, at) === name && Number.isInteger(known) && known >= 0 && known <= count ? known : 0;
}

function* lettersOf(ordinals: readonly number[], states: Uint8Array): Generator<string> {
  for (const ordinal of ordinals) yield footprint_letters[states[ordinal]!]!;
}

function retriedIn(ordinals: readonly number[], attempts: Uint16Array): [number, number][] {
  const retried: [number, number][] = [];
  for (const [i, ordinal] of ordinals.entries()) {
    if (attempts[ordinal]! > 1) retried.push([i, attempts[ordinal]!]);
    if (retried.length === most_retried) break;
  }
  return retried;
}

function boxesBetween(boxes: StageFootprints["boxes"], lo: number, hi: number): number[] {
  const found: number[] = [];
  for (let ordinal = lo; ordinal < hi; ordinal++) if (boxes.has(ordinal)) found.push(ordinal);
  return found;
}

function areaOf(text: string): Bounds {
  const area = footprintBox(text.split(",").map(Number));
  if (area === null) {
    refuse("query.bbox", "is no box on the globe", "west,south,east,north: -180 to 180, -90 to 90, south below north");
  }
  return area;
}

function selectionOf(text: string): [number, number][] {
  const ranges = parseOrdinals(text);
  if (ranges === null) refuse("query.selected", "has a range that ends before it begins", "Such as 0-99,120.");
  return ranges;
}

function refuse(path: string, problem: string, fix: string): never {
  const problems = [{ path, problem, fix }];
  throw new BadRequest("the request is not right", { problems });
}
