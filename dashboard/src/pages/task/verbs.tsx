// What can be done about a task: retry, skip, and for one that stands alone cancel and move.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { tasks_api } from "../../../../src/core/api/tasks.js";
import { tasks, whatFollows } from "../../../../src/core/shown/figures.js";
import { call } from "../../api/call.js";
import { shown, verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
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
      {open !== null && task_verbs[open].again && <Again verb={open} task={task} onClose={close} />}
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

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries();
}

const pathOf = (verb: Verb) => `/api/tasks/{task_id}/${verb}`;

function Again({ verb, task, onClose }: Parts & { verb: Verb }) {
  const refresh = useRefresh();
  const { task_id, job_id } = task;
  const { label, again: [of_lone, of_job] = ["", ""] } = task_verbs[verb];
  type Answer = ReplyOf<typeof tasks_api.retry>;
  return (
    <VerbDialog<Answer>
      title={`${label} task ${task.index}`}
      verb={label}
      run={({ dry_run, reason }) =>
        call<typeof tasks_api.retry>("POST", pathOf(verb), {
          params: { task_id },
          body: { dry_run, reason },
        })
      }
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
      {...shown((reason) => verbCommands(pageBase(), `tasks.${verb}`, { task_id, reason }))}
      onDone={refresh}
      onClose={onClose}
    >
      {job_id === null ? of_lone : of_job}
    </VerbDialog>
  );
}

function Skip({ task, onClose }: Parts) {
  const refresh = useRefresh();
  const { task_id } = task;
  return (
    <VerbDialog<ReplyOf<typeof tasks_api.skip>>
      title={`Skip task ${task.index}`}
      verb="Skip"
      danger
      reason="needed"
      run={({ dry_run, reason }) =>
        call<typeof tasks_api.skip>("POST", pathOf("skip"), {
          params: { task_id },
          body: { dry_run, reason: reason ?? "" },
        })
      }
      tell={(answer) =>
        answer.dry_run ? <>It is {<Safe text={answer.status} />} now, and would be skipped.</> : <>It is skipped.</>
      }
      {...shown((reason) => verbCommands(pageBase(), "tasks.skip", { task_id, reason: reason ?? "…" }))}
      onDone={refresh}
      onClose={onClose}
    >
      It counts as done without a result. What follows it does without.
    </VerbDialog>
  );
}

function Cancel({ task, onClose }: Parts) {
  const refresh = useRefresh();
  const { task_id } = task;
  return (
    <VerbDialog<ReplyOf<typeof tasks_api.cancel>>
      title={`Cancel task ${task.index}`}
      verb="Cancel the task"
      danger
      run={({ dry_run, reason }) =>
        call<typeof tasks_api.cancel>("POST", pathOf("cancel"), {
          params: { task_id },
          body: { dry_run, reason },
        })
      }
      tell={(answer) =>
        answer.dry_run ? <>It is {<Safe text={answer.status} />} now, and would be cancelled.</> : <>It is cancelled.</>
      }
      {...shown((reason) => verbCommands(pageBase(), "tasks.cancel", { task_id, reason }))}
      onDone={refresh}
      onClose={onClose}
    >
      A running handler is told to stop. What it still returns is refused.
    </VerbDialog>
  );
}

function Reschedule({ task, onClose }: Parts) {
  const refresh = useRefresh();
  const { task_id } = task;
  const [when, setWhen] = useState(() => localText(new Date(Date.now() + 3_600_000)));
  const at = new Date(when);
  const run_at = Number.isNaN(at.getTime()) ? new Date().toISOString() : at.toISOString();
  return (
    <VerbDialog<ReplyOf<typeof tasks_api.reschedule>>
      title={`Move task ${task.index}`}
      verb="Move"
      run={({ dry_run, reason }) =>
        call<typeof tasks_api.reschedule>("POST", pathOf("reschedule"), {
          params: { task_id },
          body: { run_at, dry_run, reason },
        })
      }
      tell={(answer) => (
        <>
          {answer.dry_run ? "It would not start before " : "It does not start before "}
          {new Date(answer.run_at).toLocaleString()}.
        </>
      )}
      dry_run={false}
      {...shown((reason) => verbCommands(pageBase(), "tasks.reschedule", { task_id, run_at, reason }))}
      onDone={refresh}
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
