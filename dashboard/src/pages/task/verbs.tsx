// What can be done about a task: retry, skip, and for one that stands alone cancel and move.
import { useState } from "react";
import { tasks, whatFollows } from "../../../../src/core/shown/figures.js";
import { useForbidden } from "../../api/session.js";
import { Button, Input, Safe, VerbDialog } from "../../ui/index.js";
import type { Task } from "./reading.js";
import { refusal, task_verbs, type Verb } from "./verb_rules.js";

export function TaskVerbs({ task }: { task: Task }) {
  const [open, setOpen] = useState<Verb | null>(null);
  const forbidden = useForbidden("operate");
  const all = Object.keys(task_verbs) as Verb[];
  const verbs = all.filter((verb) => task.job_id === null || !task_verbs[verb].lone);
  const close = () => setOpen(null);
  return (
    <>
      {verbs.map((verb) => (
        <Button key={verb} forbidden={forbidden ?? refusal(verb, task)} onClick={() => setOpen(verb)}>
          {task_verbs[verb].label}
        </Button>
      ))}
      {(open === "retry" || open === "redo") && <Again verb={open} task={task} onClose={close} />}
      {open === "skip" && <Skip task={task} onClose={close} />}
      {open === "cancel" && <Cancel task={task} onClose={close} />}
      {open === "reschedule" && <Reschedule task={task} onClose={close} />}
    </>
  );
}

interface Parts {
  task: Task;
  onClose(): void;
}

function Again({ verb, task, onClose }: Parts & { verb: "retry" | "redo" }) {
  const { label, again: [of_lone, of_job] = ["", ""] } = task_verbs[verb];
  return (
    <VerbDialog
      does={`tasks.${verb}`}
      fields={{ task_id: task.task_id }}
      title={`${label} task ${task.index}`}
      verb={label}
      tell={(answer) => (
        <>
          {answer.dry_run ? "It would run " : "It runs "}
          {tasks(answer.again)} again
          {"stages" in answer && answer.stages.some(({ follows }) => follows) && (
            <>, and what follows it: {whatFollows(answer.stages)}</>
          )}
          .
        </>
      )}
      onClose={onClose}
    >
      {task.job_id === null ? of_lone : of_job}
    </VerbDialog>
  );
}

function Skip({ task, onClose }: Parts) {
  return (
    <VerbDialog
      does="tasks.skip"
      fields={{ task_id: task.task_id }}
      title={`Skip task ${task.index}`}
      verb="Skip"
      danger
      reason="needed"
      tell={(answer) =>
        answer.dry_run ? <>It is {<Safe text={answer.status} />} now, and would be skipped.</> : <>It is skipped.</>
      }
      onClose={onClose}
    >
      It counts as done without a result. What follows it does without.
    </VerbDialog>
  );
}

function Cancel({ task, onClose }: Parts) {
  return (
    <VerbDialog
      does="tasks.cancel"
      fields={{ task_id: task.task_id }}
      title={`Cancel task ${task.index}`}
      verb="Cancel the task"
      danger
      tell={(answer) =>
        answer.dry_run ? <>It is {<Safe text={answer.status} />} now, and would be cancelled.</> : <>It is cancelled.</>
      }
      onClose={onClose}
    >
      A running handler is told to stop. What it still returns is refused.
    </VerbDialog>
  );
}

function Reschedule({ task, onClose }: Parts) {
  const [when, setWhen] = useState(() => localText(new Date(Date.now() + 3_600_000)));
  const at = new Date(when);
  const run_at = Number.isNaN(at.getTime()) ? new Date().toISOString() : at.toISOString();
  return (
    <VerbDialog
      does="tasks.reschedule"
      fields={{ task_id: task.task_id, run_at }}
      title={`Move task ${task.index}`}
      verb="Move"
      tell={(answer) => (
        <>
          {answer.dry_run ? "It would not start before " : "It does not start before "}
          {new Date(answer.run_at).toLocaleString()}.
        </>
      )}
      dry_run={false}
      onClose={onClose}
    >
      <Input
        label="Not before"
        type="datetime-local"
        value={when}
        onChange={({ target }) => setWhen(target.value)}
        help="In your time zone."
      />
    </VerbDialog>
  );
}

/** As an input for date and time takes it, in the zone of the reader. */
function localText(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
