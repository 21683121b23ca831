import { pageBase } from "../../api/page_base.js";
import { submitLines } from "../../form/form_lines.js";
import { fromPlain } from "../../form/values.js";
import { JobLink, Safe, VerbDialog } from "../../ui/index.js";
import type { Job } from "./records.js";
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
  const { what, ...words } = job_verbs[verb];
  const common = { ...words, fields: { job_id }, children: what, onClose };
  switch (verb) {
    case "resume":
      return <VerbDialog does={verb} {...common} tell={(told) => <RepairTold told={told} />} />;
    case "cancel":
      return <VerbDialog does={verb} {...common} tell={(told) => <CancelTold told={told} />} />;
    default:
      return <VerbDialog does={verb} {...common} tell={(told) => <PauseTold told={told} verb={verb} />} />;
  }
}

interface DecideDialogProps {
  verb: "approve" | "reject";
  job_id: string;
  stage: string | undefined;
  message?: string | undefined;
  onClose(): void;
}

export function DecideDialog({ verb, job_id, stage, message, onClose }: DecideDialogProps) {
  const named = stage === undefined ? "the stage that waits" : `stage ${stage}`;
  return (
    <VerbDialog
      does={verb}
      fields={{ job_id, stage }}
      title={`${verb === "approve" ? "Approve" : "Reject"} ${named}`}
      verb={verb === "approve" ? "Approve" : "Reject"}
      danger={verb === "reject"}
      reason={verb === "reject" ? "needed" : "possible"}
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
  const { job_type, parameters, labels, priority } = job;
  const options = { mode: "force" as const, priority, labels };
  const run = { parameters, ...options };
  return (
    <VerbDialog
      does="jobs.submit"
      fields={{ job_type, ...run }}
      title="Run it once more"
      verb="Submit a new run"
      reason="none"
      dry_run={false}
      tell={({ job_id, run }) => (
        <p>
          Run {run} was submitted: <JobLink id={job_id} />
        </p>
      )}
      commands={() => submitLines(pageBase(), job_type, fromPlain(parameters), fromPlain(options))}
      onClose={onClose}
    >
      The same type and parameters are submitted with mode force: a new job that does everything again. This one stays
      as it is.
    </VerbDialog>
  );
}
