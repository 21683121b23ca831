// The cells of a stage, read again while it moves: at most once in a second and a half, and only sent when they changed.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Cells, decodeCells } from "../../../../src/core/cells.js";
import { isTerminal, type StageStatus } from "../../../../src/core/statuses.js";
import { type ApiProblem, request } from "../../api/call.js";
import { useThrottled } from "../../api/hooks.js";
import { useEvents, useLive, useProgress } from "../../live/live.js";

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
    // A stage that does not move changes by verbs only, and those are events.
    refetchInterval: isTerminal(status) || state === "paused" ? false : AT_MOST_EVERY_MS * 2,
  });
  const again = useThrottled(() => void client.invalidateQueries({ queryKey, exact: true }), AT_MOST_EVERY_MS);
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
