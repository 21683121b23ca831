// What an operator does about tasks: those of a stage, those of an error group, and one.
import { type ReactNode, useState } from "react";
import { Select, VerbDialog } from "../../ui/index.js";
import type { Job } from "./records.js";
import { whyNotThisStage } from "./verb_rules.js";
import { RepairTold } from "./verb_told.js";

interface RetryStageDialogProps {
  job: Job;
  stage: string;
  choose?: boolean;
  onClose(): void;
}

/** With `choose`, which stage is asked for; what is told is that of the one chosen. */
export function RetryStageDialog({ job, stage: first, choose = false, onClose }: RetryStageDialogProps) {
  const [stage, setStage] = useState(first);
  const stages = job.stages.filter((one) => whyNotThisStage(job, one) === null);
  return (
    <RetryStage key={stage} job_id={job.job_id} stage={stage} onClose={onClose}>
      {choose ? (
        <Select
          label="Stage"
          value={stage}
          options={stages.map(({ name, number }) => ({ value: name, text: `${number} · ${name}` }))}
          onChange={({ target }) => setStage(target.value)}
          help="Every task of it runs again, also those that completed, and what follows from them."
        />
      ) : (
        "Every task of it runs again, also those that completed, and what follows from them."
      )}
    </RetryStage>
  );
}

interface RetryStageProps {
  job_id: string;
  stage: string;
  children?: ReactNode;
  onClose(): void;
}

export function RetryStage({ job_id, stage, children, onClose }: RetryStageProps) {
  return (
    <VerbDialog
      does="retry_stage"
      fields={{ job_id, stage }}
      title={`Retry stage ${stage}`}
      verb="Retry the stage"
      tell={(told) => <RepairTold told={told} />}
      onClose={onClose}
    >
      {children}
    </VerbDialog>
  );
}

interface RetryGroupDialogProps {
  job_id: string;
  signature: string;
  onClose(): void;
}

export function RetryGroupDialog({ job_id, signature, onClose }: RetryGroupDialogProps) {
  return (
    <VerbDialog
      does="retry_group"
      fields={{ job_id, signature }}
      title="Retry this error group"
      verb="Retry the group"
      tell={(told) => <RepairTold told={told} />}
      onClose={onClose}
    >
      The tasks that failed with this error run again, and what follows from them. The others stay failed.
    </VerbDialog>
  );
}

interface TaskVerbDialogProps {
  verb: "retry" | "skip";
  task_id: string;
  onClose(): void;
}

export function TaskVerbDialog({ verb, task_id, onClose }: TaskVerbDialogProps) {
  return (
    <VerbDialog
      does={`tasks.${verb}`}
      fields={{ task_id }}
      title={`${verb === "retry" ? "Retry" : "Skip"} task ${task_id}`}
      verb={verb === "retry" ? "Retry the task" : "Skip the task"}
      reason={verb === "skip" ? "needed" : "possible"}
      tell={(told) =>
        "stages" in told ? (
          <RepairTold told={told} />
        ) : (
          <p>
            Task {told.task_id}{" "}
            {told.dry_run
              ? `is ${told.status}, and would be ${verb === "retry" ? "queued again" : "skipped"}`
              : `is ${told.status} now`}
            .
          </p>
        )
      }
      onClose={onClose}
    >
      {verb === "retry"
        ? "It runs again, and what follows from it."
        : "It counts as done without a result; a job that is resumed goes on without it."}
    </VerbDialog>
  );
}
