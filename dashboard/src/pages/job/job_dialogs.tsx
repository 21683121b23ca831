// What an operator does about a job as a whole: each asks what it would touch before it does anything.
import { Link } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { jobs_api } from "../../../../src/core/api/jobs.js";
import type { operations_api } from "../../../../src/core/api/operations.js";
import { call } from "../../api/call.js";
import { shown, submitCommands, verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { Safe, VerbDialog } from "../../ui/index.js";
import type { Job, Repaired } from "./records.js";
import { bodyOf, useReadAgain } from "./verb_asking.js";
import { CancelTold, PauseTold, RepairTold } from "./verb_told.js";

export type JobVerbName = "resume" | "pause" | "continue" | "cancel";

const job_verbs: Record<JobVerbName, { title: string; verb: string; danger?: boolean; what: string }> = {
  resume: {
    title: "Resume the job",
    verb: "Resume",
    what: "What completed stays. What failed, was cancelled or never ran runs again, and what follows from it.",
  },
  pause: {
    title: "Pause the job",
    verb: "Pause",
    what: "Nothing of it is started. What runs may finish, and its deadline waits.",
  },
  continue: { title: "Let the job go on", verb: "Continue", what: "What waits may run again." },
  cancel: {
    title: "Cancel the job",
    verb: "Cancel the job",
    danger: true,
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
    ...shown((reason) => verbCommands(pageBase(), verb, { job_id, reason })),
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
              body: { ...bodyOf({ dry_run, reason }), stage },
            })
          : call<typeof operations_api.reject>("POST", "/api/jobs/{job_id}/reject", {
              params: { job_id },
              body: { dry_run, reason: reason ?? "", stage },
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
      {...shown((reason) => verbCommands(pageBase(), verb, { job_id, stage, reason }))}
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
