// What an operator does about a request as a whole.
import { Link } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { requests_api } from "../../../../src/core/api/platform/requests.js";
import { call } from "../../api/call.js";
import { shown, verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { VerbDialog } from "../../ui/index.js";
import { useReadAgain } from "../job/verb_asking.js";
import type { Request } from "./records.js";

const path = "/api/platform/requests/{request_id}";

export function CancelDialog({ request: { request_id }, onClose }: { request: Request; onClose(): void }) {
  const readAgain = useReadAgain();
  return (
    <VerbDialog<ReplyOf<typeof requests_api.cancel>>
      title="Cancel the request"
      verb="Cancel the request"
      danger
      run={(body) => call<typeof requests_api.cancel>("POST", `${path}/cancel`, { params: { request_id }, body })}
      tell={({ dry_run, changed, open_jobs, status }) => (
        <p>
          {!dry_run && !changed
            ? `Nothing changed: it is ${status.replaceAll("_", " ")} already.`
            : `${open_jobs === 1 ? "1 open job" : `${open_jobs} open jobs`} ${dry_run ? "would be" : open_jobs === 1 ? "is" : "are"} cancelled, and what has not begun is not begun. What completed stays.`}
        </p>
      )}
      {...shown((reason) => verbCommands(pageBase(), "requests.cancel", { request_id, reason }))}
      onDone={readAgain}
      onClose={onClose}
    >
      All of its jobs that are open end now. It can be resumed later.
    </VerbDialog>
  );
}

export function ResubmitDialog({
  request: { request_id, jobs, run },
  mode,
  onClose,
}: {
  request: Request;
  mode: "resume" | "force";
  onClose(): void;
}) {
  const readAgain = useReadAgain();
  const force = mode === "force";
  const kept = jobs.filter(({ status }) => status === "completed").map(({ name }) => name);
  const again = jobs.filter(({ status }) => status !== "completed").map(({ name }) => name);
  return (
    <VerbDialog<ReplyOf<typeof requests_api.resubmit>>
      title={force ? "Process it again" : "Resume the request"}
      verb={force ? "Process it again" : "Resume"}
      dry_run={false}
      run={({ reason }) =>
        call<typeof requests_api.resubmit>("POST", `${path}/resubmit`, {
          params: { request_id },
          body: { mode, reason },
        })
      }
      tell={(told) => (
        <p>
          {told.resumed ? `It goes on, in epoch ${told.epoch}.` : `Run ${told.run} was submitted: `}
          {!told.resumed && <Link href={to.request(told.request_id)}>{told.request_id.slice(0, 12)}</Link>}
        </p>
      )}
      {...shown((reason) =>
        verbCommands(
          pageBase(),
          "requests.resubmit",
          { request_id, reason, ...(force ? { mode } : {}) },
          force ? { mode: undefined, force: true } : {},
        ),
      )}
      onDone={readAgain}
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
