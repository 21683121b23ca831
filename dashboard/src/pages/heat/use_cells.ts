// The cells of a stage, read again while it moves: at most once in a second and a half, and only sent when they changed. The server
// may answer with what it read some seconds ago, so what is read right after something happened need not show it yet.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Cells, decodeCells } from "../../../../src/core/shown/cells.js";
import type { StageStatus } from "../../../../src/core/shown/statuses.js";
import { type ApiProblem, request } from "../../api/call.js";
import { useThrottled } from "../../api/hooks.js";
import { useEvents, useLive, useProgress } from "../../live/live.js";
import { settle_after_ms, stillMoves } from "./freshness.js";

const AT_MOST_EVERY_MS = 1_500;

export function useCells(job_id: string, stage: { stage_id: number; name: string; status: StageStatus }) {
  const client = useQueryClient();
  const { state } = useLive();
  const { stage_id, name, status } = stage;
  const queryKey = ["cells", job_id, stage_id];
  const result = useQuery<Cells, ApiProblem>({
    queryKey,
    queryFn: async ({ signal, client: queries }) => {
      const given = { params: { job_id, stage: name }, signal };
      const answer = await request("GET", "/api/jobs/{job_id}/stages/{stage}/cells", given);
      const cells = decodeCells(new Uint8Array(await answer.arrayBuffer()));
      const known = queries.getQueryData<Cells>(queryKey);
      // The browser had it: the same object again, so that nothing is painted.
      return known !== undefined && known.as_of === cells.as_of ? known : cells;
    },
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) =>
      state !== "paused" && stillMoves(status, data?.status) ? AT_MOST_EVERY_MS * 2 : false,
  });
  const again = useThrottled(() => void client.invalidateQueries({ queryKey, exact: true }), AT_MOST_EVERY_MS);
  const timers = useRef<ReturnType<typeof setTimeout>[]>([]);
  /** Now, and again when the server must have read anew. */
  const changed = useRef(() => {});
  changed.current = () => {
    again();
    for (const timer of timers.current) clearTimeout(timer);
    timers.current = settle_after_ms.map((ms) => setTimeout(again, ms));
  };
  useEffect(() => () => timers.current.forEach(clearTimeout), []);
  useEvents((event) => {
    if (event.job_id === job_id) changed.current();
  });
  const counts = useProgress(job_id).get(stage_id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again whenever the counts are others, or the stage is
  useEffect(() => {
    if (counts !== undefined) changed.current();
  }, [counts, status]);
  return result;
}
