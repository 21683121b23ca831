// What an operator does about a job, its stages, error groups and tasks: each asks what it would touch before it does anything.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { jobs_api } from "../../../../src/core/api/jobs.js";
import type { operations_api } from "../../../../src/core/api/operations.js";
import type { tasks_api } from "../../../../src/core/api/tasks.js";
import { call } from "../../api/call.js";
import {
  type Commands,
  jobVerbCommands,
  retryGroupCommands,
  retryStageCommands,
  submitCommands,
  taskVerbCommands,
  typeVerbCommands,
} from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { Safe, Select, VerbDialog } from "../../ui/index.js";
import type { Job, Repaired } from "./records.js";
import { whyNotThisStage } from "./verb_rules.js";
import { CancelTold, PauseTold, RepairTold } from "./verb_told.js";

interface Asked {
  dry_run: boolean;
  reason: string | undefined;
}

const bodyOf = ({ dry_run, reason }: Asked) => ({ dry_run, ...(reason === undefined ? {} : { reason }) });

/** What is on the page is read again once something was done. */
export function useReadAgain(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries();
}

function shown(commands: (reason: string | undefined) => Commands) {
  return {
    cli: (reason: string | undefined) => commands(reason).cli,
    curl: (reason: string | undefined) => commands(reason).curl,
  };
}

export type JobVerbName = "resume" | "pause" | "continue" | "cancel";

const job_verbs: Record<JobVerbName, { title: string; verb: string; danger?: boolean; what: string }> = {
  resume: {
    ...{ title: "Resume the job", verb: "Resume" },
    what: "What completed stays. What failed, was cancelled or never ran runs again, and what follows from it.",
  },
  pause: {
    title: "Pause the job",
    verb: "Pause",
    what: "Nothing of it is started. What runs may finish, and its deadline waits.",
  },
  continue: { title: "Let the job go on", verb: "Continue", what: "What waits may run again." },
  cancel: {
    ...{ title: "Cancel the job", verb: "Cancel the job", danger: true },
    what: "What waits is dropped, what runs is told to stop. It can be resumed later.",
  },
};

export function JobVerbDialog({ verb, job_id, onClose }: { verb: JobVerbName; job_id: string; onClose(): void }) {
  const readAgain = useReadAgain();
  const { what, ...words } = job_verbs[verb];
  const params = { job_id };
  const common = {
    ...words,
    onClose,
    onDone: readAgain,
    ...shown((reason) => jobVerbCommands(pageBase(), verb, { job_id }, { reason })),
  };
  switch (verb) {
    case "resume":
      return (
        <VerbDialog<Repaired>
          {...common}
          run={(asked) =>
            call<typeof operations_api.resume>("POST", "/api/jobs/{job_id}/resume", { params, body: bodyOf(asked) })
          }
          tell={(told) => <RepairTold told={told} />}
        >
          {what}
        </VerbDialog>
      );
    case "cancel":
      return (
        <VerbDialog<ReplyOf<typeof operations_api.cancel>>
          {...common}
          run={(asked) =>
            call<typeof operations_api.cancel>("POST", "/api/jobs/{job_id}/cancel", { params, body: bodyOf(asked) })
          }
          tell={(told) => <CancelTold told={told} />}
        >
          {what}
        </VerbDialog>
      );
    default:
      return (
        <VerbDialog<ReplyOf<typeof operations_api.pause>>
          {...common}
          run={(asked) =>
            call<typeof operations_api.pause>("POST", `/api/jobs/{job_id}/${verb}`, { params, body: bodyOf(asked) })
          }
          tell={(told) => <PauseTold told={told} verb={verb} />}
        >
          {what}
        </VerbDialog>
      );
  }
}

export function DecideDialog({
  verb,
  job_id,
  stage,
  message,
  onClose,
}: {
  verb: "approve" | "reject";
  job_id: string;
  stage: string | undefined;
  message?: string | undefined;
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  const named = stage === undefined ? "the stage that waits" : `stage ${stage}`;
  return (
    <VerbDialog<ReplyOf<typeof operations_api.approve>>
      title={`${verb === "approve" ? "Approve" : "Reject"} ${named}`}
      verb={verb === "approve" ? "Approve" : "Reject"}
      danger={verb === "reject"}
      reason={verb === "reject" ? "needed" : "possible"}
      run={({ dry_run, reason }) =>
        verb === "approve"
          ? call<typeof operations_api.approve>("POST", "/api/jobs/{job_id}/approve", {
              params: { job_id },
              body: { ...bodyOf({ dry_run, reason }), ...(stage === undefined ? {} : { stage }) },
            })
          : call<typeof operations_api.reject>("POST", "/api/jobs/{job_id}/reject", {
              params: { job_id },
              body: { dry_run, reason: reason ?? "", ...(stage === undefined ? {} : { stage }) },
            })
      }
      tell={({ dry_run, changed, stage: which }) => (
        <p>
          Stage <Safe text={which} />{" "}
          {!dry_run && !changed
            ? "was decided already: nothing changed."
            : verb === "approve"
              ? dry_run
                ? "would begin."
                : "begins."
              : dry_run
                ? "would fail; its importance says what that means for the job."
                : "has failed."}
        </p>
      )}
      {...shown((reason) => jobVerbCommands(pageBase(), verb, { job_id, stage }, { reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      {message !== undefined && message !== "" && (
        <blockquote className="asks">
          <Safe text={message} />
        </blockquote>
      )}
    </VerbDialog>
  );
}

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
      {...shown((reason) => retryStageCommands(pageBase(), { job_id, stage }, { reason }))}
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
      {...shown((reason) => retryGroupCommands(pageBase(), { job_id, signature }, { reason }))}
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
      {...shown((reason) => taskVerbCommands(pageBase(), verb, task_id, { reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      {verb === "retry"
        ? "It runs again, and what follows from it."
        : "It counts as done without a result; a job that is resumed goes on without it."}
    </VerbDialog>
  );
}

export function TypeVerbDialog({
  verb,
  task_type,
  onClose,
}: {
  verb: "pause" | "continue";
  task_type: string;
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  return (
    <VerbDialog<ReplyOf<typeof operations_api.pause_type>>
      title={`${verb === "pause" ? "Pause" : "Continue"} task type ${task_type}`}
      verb={verb === "pause" ? "Pause the type" : "Continue the type"}
      run={(asked) =>
        call<typeof operations_api.pause_type>("POST", `/api/task-types/{task_type}/${verb}`, {
          params: { task_type },
          body: bodyOf(asked),
        })
      }
      tell={(told) => <PauseTold told={told} verb={verb} />}
      {...shown((reason) => typeVerbCommands(pageBase(), verb, task_type, { reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      {verb === "pause" ? "None of its tasks is started, in any job." : "Its tasks may run again, in every job."}
    </VerbDialog>
  );
}

/** One more run of the same parameters: another job, with an id of its own. */
export function ForceDialog({ job, onClose }: { job: Job; onClose(): void }) {
  const readAgain = useReadAgain();
  const { job_type, parameters, labels, priority } = job;
  return (
    <VerbDialog<ReplyOf<typeof jobs_api.submit>>
      title="Run it once more"
      verb="Submit a new run"
      reason="none"
      dry_run={false}
      run={() =>
        call<typeof jobs_api.submit>("POST", "/api/jobs/submit/{job_type}", {
          params: { job_type },
          body: { parameters, mode: "force", priority, labels },
        })
      }
      tell={({ job_id, run }) => (
        <p>
          Run {run} was submitted: <Link href={to.job(job_id)}>{job_id.slice(0, 12)}</Link>
        </p>
      )}
      {...shown(() => submitCommands(pageBase(), job_type, { parameters, mode: "force", priority, labels }))}
      onDone={readAgain}
      onClose={onClose}
    >
      The same type and parameters are submitted with mode force: a new job that does everything again. This one stays
      as it is.
    </VerbDialog>
  );
}
