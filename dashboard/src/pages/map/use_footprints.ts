// The boxes of a stage with their states, read again while it moves. Boxes that are here already are not sent again; of a stage with
// very many, what is in view is asked for.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { footprints_api } from "../../../../src/core/api/footprints.js";
import { type FootprintState, footprint_letters, footprint_states } from "../../../../src/core/shown/footprints.js";
import { isTerminal, type StageStatus } from "../../../../src/core/shown/statuses.js";
import { formatOrdinals, unpackBoxes, unpackLetters } from "../../../../src/geo/packed_boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { type ApiProblem, call } from "../../api/call.js";
import { useThrottled } from "../../api/hooks.js";
import { useEvents, useLive, useProgress } from "../../live/live.js";
import type { Range } from "../../selection.js";
import { type MapBin, type MapBox, roughly, worstIn } from "./shapes.js";

const AT_MOST_EVERY_MS = 1_500;
type Reply = ReplyOf<typeof footprints_api.footprints>;

export interface Footprints extends Omit<Reply, "boxes" | "states" | "bins" | "retried"> {
  boxes: readonly MapBox[];
  states: ReadonlyMap<number, FootprintState>;
  attempts: ReadonlyMap<number, number>;
  bins: readonly (MapBin & { counts: Partial<Record<FootprintState, number>> })[];
}

interface Asked {
  job_id: string;
  stage: { stage_id: number; name: string; status: StageStatus };
  /** Where the map looks. */
  view: Bounds | null;
  selected: readonly Range[];
}

export function useFootprints({ job_id, stage, view, selected }: Asked) {
  const client = useQueryClient();
  const { state } = useLive();
  const { stage_id, name, status } = stage;
  const latest = useRef<Footprints | null>(null);
  // Few boxes come all at once: where the map looks, and what is selected, is then nobody's business but the page's.
  const is_many = latest.current !== null && latest.current.with_box > latest.current.boxes.length;
  const bbox = is_many && view !== null ? view.map((edge) => edge.toFixed(3)).join() : undefined;
  const chosen = is_many && selected.length > 0 ? formatOrdinals(roughly(selected)) : undefined;
  const queryKey = ["footprints", job_id, stage_id, bbox ?? "", chosen ?? ""];
  const result = useQuery<Footprints, ApiProblem>({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = latest.current;
      const asked = { job_id, stage: name, bbox, since: known?.since, selected: chosen };
      const reply = await call("footprints.footprints", asked, signal);
      latest.current = merged(reply, known);
      return latest.current;
    },
    structuralSharing: false,
    // Each view of a large stage is an answer of its own.
    gcTime: 10_000,
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) => {
      if (state === "paused") return false;
      if ((data?.unread ?? 0) > 0) return 500;
      return isTerminal(status) ? false : AT_MOST_EVERY_MS * 2;
    },
  });
  const again = useThrottled(
    () => void client.invalidateQueries({ queryKey: ["footprints", job_id, stage_id] }),
    AT_MOST_EVERY_MS,
  );
  useEvents((event) => {
    if (event.job_id === job_id) again();
  });
  const counts = useProgress(job_id).get(stage_id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again whenever the counts are others, or the stage is
  useEffect(() => {
    if (counts !== undefined) again();
  }, [counts, status, again]);
  return result;
}

function merged(reply: Reply, known: Footprints | null): Footprints {
  const { boxes: packed, states: letters, bins, retried, ...about } = reply;
  const added =
    packed === null ? [] : unpackBoxes(packed, reply.scale).map(({ ordinal, box }) => ({ id: ordinal, box }));
  const kept = reply.from > 0 ? (known?.boxes ?? []) : [];
  // The same list again where nothing was added: then nothing of it is drawn anew.
  const boxes = added.length === 0 && kept.length === reply.from && reply.from > 0 ? kept : [...kept, ...added];
  const each = unpackLetters(letters);
  const states = new Map(
    boxes.map(({ id }, i) => [id, footprint_states[footprint_letters.indexOf(each[i]!)] ?? "queued"]),
  );
  const attempts = new Map(retried.map(([at, attempt]) => [boxes[at!]!.id, attempt!]));
  return { ...about, boxes, states, attempts, bins: bins === null ? no_bins : binsOf(bins) };
}

const no_bins: Footprints["bins"] = [];

function binsOf({ grid, column, row, counts, selected }: NonNullable<Reply["bins"]>): Footprints["bins"] {
  return column.map((c, i) => {
    const of = Object.fromEntries(
      footprint_states.map((state, code) => [state, counts[code]![i]!]).filter(([, n]) => (n as number) > 0),
    ) as Partial<Record<FootprintState, number>>;
    const west = grid.west + c * grid.width;
    const south = grid.south + row[i]! * grid.height;
    return {
      id: row[i]! * grid.columns + c,
      box: [west, south, west + grid.width, south + grid.height],
      state: worstIn(of),
      count: Object.values(of).reduce((sum, n) => sum + n, 0),
      selected: (selected[i] ?? 0) > 0,
      counts: of,
    };
  });
}

/** Ordinals of the boxes that are selected. */
export function useSelectedIds(boxes: readonly MapBox[], has: (ordinal: number) => boolean): ReadonlySet<number> {
  return useMemo(() => new Set(boxes.flatMap(({ id }) => (has(id) ? [id] : []))), [boxes, has]);
}
