// What an operator does about a request as a whole.
import { Link } from "wouter";
import { to } from "../../routes.js";
import { VerbDialog } from "../../ui/index.js";
import type { Request } from "./records.js";

export function CancelDialog({ request: { request_id }, onClose }: { request: Request; onClose(): void }) {
  return (
    <VerbDialog
      does="requests.cancel"
      fields={{ request_id }}
      title="Cancel the request"
      verb="Cancel the request"
      danger
      tell={({ dry_run, changed, open_jobs, status }) => (
        <p>
          {!dry_run && !changed
            ? `Nothing changed: it is ${status.replaceAll("_", " ")} already.`
            : `${open_jobs === 1 ? "1 open job" : `${open_jobs} open jobs`} ${dry_run ? "would be" : open_jobs === 1 ? "is" : "are"} cancelled, and what has not begun is not begun. What completed stays.`}
        </p>
      )}
      onClose={onClose}
    >
      All of its jobs that are open end now. It can be resumed later.
    </VerbDialog>
  );
}

interface ResubmitDialogProps {
  request: Request;
  mode: "resume" | "force";
  onClose(): void;
}

export function ResubmitDialog({ request: { request_id, jobs, run }, mode, onClose }: ResubmitDialogProps) {
  const force = mode === "force";
  const kept = jobs.filter(({ status }) => status === "completed").map(({ name }) => name);
  const again = jobs.filter(({ status }) => status !== "completed").map(({ name }) => name);
  return (
    <VerbDialog
      does="requests.resubmit"
      fields={{ request_id, mode }}
      cli_fields={{ mode: undefined, force }}
      title={force ? "Process it again" : "Resume the request"}
      verb={force ? "Process it again" : "Resume"}
      dry_run={false}
      tell={(told) => (
        <p>
          {told.resumed ? `It goes on, in epoch ${told.epoch}.` : `Run ${told.run} was submitted: `}
          {!told.resumed && <Link href={to.request(told.request_id)}>{told.request_id.slice(0, 12)}</Link>}
        </p>
      )}
      onClose={onClose}
    >
      {force ? (
        <p>
          Everything is done once more, as run {run + 1}, with the same files and parameters. What this run made stays
          until the next one replaces it.
        </p>
      ) : (
        <p>
          {again.length === 0 ? "What did not end well" : again.join(", ")} {again.length > 1 ? "go" : "goes"} on with
          what failed, was cancelled or never ran.
          {kept.length > 0 && ` ${kept.join(", ")} ${kept.length > 1 ? "are" : "is"} kept.`}
        </p>
      )}
    </VerbDialog>
  );
}
