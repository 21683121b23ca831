// Pausing a task type, or letting it go on: counted first, with why, and the same for the terminal.
import { useQueryClient } from "@tanstack/react-query";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { operations_api } from "../../../../src/core/api/operations.js";
import { call } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { VerbDialog } from "../../ui/index.js";

type Paused = ReplyOf<typeof operations_api.pause_type>;

export function PauseDialog({
  verb,
  task_type,
  onClose,
}: {
  verb: "pause" | "continue";
  task_type: string;
  onClose(): void;
}) {
  const client = useQueryClient();
  const commands = (reason: string | undefined) => verbCommands(pageBase(), `${verb}_type`, { task_type, reason });
  const pauses = verb === "pause";
  return (
    <VerbDialog<Paused>
      title={`${pauses ? "Pause" : "Continue"} ${task_type}`}
      verb={pauses ? "Pause it" : "Continue it"}
      run={async ({ dry_run, reason }) => {
        const body = { dry_run, reason };
        const answer = await call<typeof operations_api.pause_type>("POST", `/api/task-types/{task_type}/${verb}`, {
          params: { task_type },
          body,
        });
        if (!dry_run) void client.invalidateQueries();
        return answer;
      }}
      tell={(told) => wordsOf(told, pauses)}
      cli={(reason) => commands(reason).cli}
      curl={(reason) => commands(reason).curl}
      onClose={onClose}
    >
      {pauses
        ? "No task of this type is started in any job of this tenant until it is continued. What runs may finish."
        : "Workers take tasks of this type again."}
    </VerbDialog>
  );
}

function wordsOf({ queued, dry_run, paused }: Paused, pauses: boolean): string {
  const tasks = queued === 1 ? "1 task" : `${queued.toLocaleString("en-US")} tasks`;
  if (dry_run) {
    if (pauses === paused) return pauses ? "It is paused already." : "It is not paused.";
    return pauses ? `${tasks} of it would wait.` : `${tasks} of it may run again.`;
  }
  return paused ? `Paused: ${tasks} of it wait.` : `It goes on: ${tasks} of it may run.`;
}
