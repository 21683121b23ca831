// Pausing a task type, or letting it go on: counted first, with why, and the same for the terminal.
import type { Reply } from "../../api/call.js";
import { VerbDialog } from "../../ui/index.js";

type Paused = Reply<"pause_type">;

interface PauseDialogProps {
  verb: "pause" | "continue";
  task_type: string;
  onClose(): void;
}

export function PauseDialog({ verb, task_type, onClose }: PauseDialogProps) {
  const pauses = verb === "pause";
  return (
    <VerbDialog
      does={`${verb}_type`}
      fields={{ task_type }}
      title={`${pauses ? "Pause" : "Continue"} ${task_type}`}
      verb={pauses ? "Pause it" : "Continue it"}
      tell={(told) => wordsOf(told, pauses)}
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
