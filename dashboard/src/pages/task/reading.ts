// One task, read as text so that its values keep every digit.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiProblem, callText, type Reply } from "../../api/call.js";
import { useThrottled } from "../../api/hooks.js";
import { useEvents, useLive } from "../../live/live.js";
import { memberTexts } from "../../ui/json_text.js";

export type Task = Reply<"tasks.get">;
export type ValueName = "parameters" | "metadata" | "result" | "next_stage_params" | "deliverables";

/** Larger values are downloaded, not shown. */
export const largest_shown = 1_048_576;

const path = "/api/tasks/{task_id}";

export interface ReadTask {
  task: Task;
  /** The values as JSON text. */
  texts: ReadonlyMap<string, string>;
}

export function isOpen({ status }: Pick<Task, "status">): boolean {
  return status === "queued" || status === "processing";
}

export function useTask(task_id: string) {
  const client = useQueryClient();
  const { state } = useLive();
  const key = [path, { task_id }, { text: true }];
  const { data: text, ...rest } = useQuery<string, ApiProblem>({
    queryKey: key,
    queryFn: ({ signal }) => callText("tasks.get", { task_id, largest: largest_shown }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      state !== "paused" && data !== undefined && isOpen(JSON.parse(data) as Task) ? 2000 : false,
  });
  const again = useThrottled(() => void client.invalidateQueries({ queryKey: key, exact: true }), 250);
  const read = useMemo<ReadTask | null>(
    () => (text === undefined ? null : { task: JSON.parse(text) as Task, texts: memberTexts(text) }),
    [text],
  );
  useEvents(({ job_id, stage_id, data }) => {
    const stage = Number(task_id.split("-")[0]);
    if (data?.task_id === task_id || (job_id !== null && job_id === read?.task.job_id) || stage_id === stage) again();
  });
  return { ...rest, read };
}
