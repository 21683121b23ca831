// What an operator does about tasks: those of a stage, those of an error group, and one.
import { type ReactNode, useState } from "react";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { operations_api } from "../../../../src/core/api/operations.js";
import type { tasks_api } from "../../../../src/core/api/tasks.js";
import { call } from "../../api/call.js";
import { shown, verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { Select, VerbDialog } from "../../ui/index.js";
import type { Job, Repaired } from "./records.js";
import { bodyOf, useReadAgain } from "./verb_asking.js";
import { whyNotThisStage } from "./verb_rules.js";
import { RepairTold } from "./verb_told.js";

/** With `choose`, which stage is asked for; what is told is that of the one chosen. */
export function RetryStageDialog({
  job,
  stage: first,
  choose = false,
  onClose,
}: {
  job: Job;
  stage: string;
  choose?: boolean;
  onClose(): void;
}) {
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

export function RetryStage({
  job_id,
  stage,
  children,
  onClose,
}: {
  job_id: string;
  stage: string;
  children?: ReactNode;
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  return (
    <VerbDialog<Repaired>
      title={`Retry stage ${stage}`}
      verb="Retry the stage"
      run={(asked) =>
        call<typeof operations_api.retry_stage>("POST", "/api/jobs/retry-stage/{job_id}/{stage}", {
          params: { job_id, stage },
          body: bodyOf(asked),
        })
      }
      tell={(told) => <RepairTold told={told} />}
      {...shown((reason) => verbCommands(pageBase(), "retry_stage", { job_id, stage, reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      {children}
    </VerbDialog>
  );
}

export function RetryGroupDialog({
  job_id,
  signature,
  onClose,
}: {
  job_id: string;
  signature: string;
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  return (
    <VerbDialog<Repaired>
      title="Retry this error group"
      verb="Retry the group"
      run={(asked) =>
        call<typeof operations_api.retry_group>("POST", "/api/jobs/{job_id}/retry-group", {
          params: { job_id },
          body: { signature, ...bodyOf(asked) },
        })
      }
      tell={(told) => <RepairTold told={told} />}
      {...shown((reason) => verbCommands(pageBase(), "retry_group", { job_id, signature, reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      The tasks that failed with this error run again, and what follows from them. The others stay failed.
    </VerbDialog>
  );
}

export function TaskVerbDialog({
  verb,
  task_id,
  onClose,
}: {
  verb: "retry" | "skip";
  task_id: string;
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  type Answer = ReplyOf<typeof tasks_api.retry> | ReplyOf<typeof tasks_api.skip>;
  return (
    <VerbDialog<Answer>
      title={`${verb === "retry" ? "Retry" : "Skip"} task ${task_id}`}
      verb={verb === "retry" ? "Retry the task" : "Skip the task"}
      reason={verb === "skip" ? "needed" : "possible"}
      run={({ dry_run, reason }) =>
        verb === "retry"
          ? call<typeof tasks_api.retry>("POST", "/api/tasks/{task_id}/retry", {
              params: { task_id },
              body: bodyOf({ dry_run, reason }),
            })
          : call<typeof tasks_api.skip>("POST", "/api/tasks/{task_id}/skip", {
              params: { task_id },
              body: { dry_run, reason: reason ?? "" },
            })
      }
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
      {...shown((reason) => verbCommands(pageBase(), `tasks.${verb}`, { task_id, reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      {verb === "retry"
        ? "It runs again, and what follows from it."
        : "It counts as done without a result; a job that is resumed goes on without it."}
    </VerbDialog>
  );
}
