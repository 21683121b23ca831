// The button of an answer of `why` that does something at once.
import { useState } from "react";
import { useForbidden } from "../../api/session.js";
import { Button, VerbDialog } from "../../ui/index.js";
import { PauseDialog } from "../queues/pause_dialog.js";
import { DecideDialog, JobVerbDialog } from "./job_dialogs.js";
import { RetryStage, TaskVerbDialog } from "./task_dialogs.js";
import { VerifyDialog } from "./verify_dialog.js";
import type { WhyAction } from "./why_action.js";

type Doing = Exclude<WhyAction, { kind: "command" | "page" | "open_job" | "open_task" }>;

const labels: Record<"resume" | "continue" | "cancel" | "pause", string> = {
  resume: "Resume",
  continue: "Continue",
  cancel: "Cancel",
  pause: "Pause",
};

function labelOf(action: Doing): string {
  switch (action.kind) {
    case "job":
      return `${labels[action.verb]} job ${action.job_id.slice(0, 12)}`;
    case "decide":
      return "Approve";
    case "stage":
      return `Retry stage ${action.stage}`;
    case "type":
      return `Continue ${action.task_type}`;
    case "task":
      return `Retry task ${action.task_id}`;
    case "run_now":
      return "Run it now";
    case "verify":
      return "Verify the job";
  }
}

export function WhyVerb({ action, onOpen }: { action: Doing; onOpen(open: boolean): void }) {
  const [open, setOpen] = useState<"" | "yes" | "no">("");
  const show = (which: "" | "yes" | "no") => {
    setOpen(which);
    onOpen(which !== "");
  };
  const may_operate = useForbidden("operate");
  const forbidden = action.kind === "verify" ? null : may_operate;
  const close = () => show("");
  return (
    <>
      <Button kind="primary" forbidden={forbidden} onClick={() => show("yes")}>
        {labelOf(action)}
      </Button>
      {action.kind === "decide" && (
        <Button forbidden={forbidden} onClick={() => show("no")}>
          Reject
        </Button>
      )}
      {open !== "" && <Doer action={action} approves={open === "yes"} onClose={close} />}
    </>
  );
}

function Doer({ action, approves, onClose }: { action: Doing; approves: boolean; onClose(): void }) {
  switch (action.kind) {
    case "job":
      return <JobVerbDialog verb={action.verb} job_id={action.job_id} onClose={onClose} />;
    case "decide":
      return (
        <DecideDialog
          verb={approves ? "approve" : "reject"}
          job_id={action.job_id}
          stage={action.stage}
          onClose={onClose}
        />
      );
    case "stage":
      return <RetryStage job_id={action.job_id} stage={action.stage} onClose={onClose} />;
    case "type":
      return <PauseDialog verb="continue" task_type={action.task_type} onClose={onClose} />;
    case "task":
      return <TaskVerbDialog verb="retry" task_id={action.task_id} onClose={onClose} />;
    case "run_now":
      return <RunNow task_id={action.task_id} onClose={onClose} />;
    case "verify":
      return <VerifyDialog job_id={action.job_id} onClose={onClose} />;
  }
}

function RunNow({ task_id, onClose }: { task_id: string; onClose(): void }) {
  const [run_at] = useState(() => new Date().toISOString());
  return (
    <VerbDialog
      does="tasks.reschedule"
      fields={{ task_id, run_at }}
      title={`Run task ${task_id} now`}
      verb="Run it now"
      tell={({ dry_run }) => <p>{dry_run ? "It would be due at once." : "It is due now."}</p>}
      onClose={onClose}
    >
      It does not wait for its time any longer.
    </VerbDialog>
  );
}
