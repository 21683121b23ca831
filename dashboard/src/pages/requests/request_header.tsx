// Which request it is, who asked for it, and what can be done with it.
import { useState } from "react";
import { Link } from "wouter";
import { withoutSecretKeys } from "../../../../src/core/values/redaction.js";
import { useForbidden } from "../../api/session.js";
import { to } from "../../routes.js";
import { Button, Copy, Duration, download, Safe, StatusBadge, Time, useKeys, useNow } from "../../ui/index.js";
import { Fact, More } from "../job/job_header.js";
import { Decide } from "./decide.js";
import type { Release, Request, Review } from "./records.js";
import { DecideReleaseDialog, UnpublishDialog } from "./release_dialogs.js";
import { CancelDialog, ResubmitDialog } from "./request_dialogs.js";
import { isAsked, why_not } from "./verb_rules.js";

export function RequestHeading({ request }: { request: Request }) {
  const { dataset_id, resource_id, version_id, request_id, run, epoch, status, waits_for_approval } = request;
  return (
    <span className="job-heading">
      <Safe text={`${dataset_id} / ${resource_id} / ${version_id}`} limit={200} />
      <code className="job-id" title={request_id}>
        {request_id.slice(0, 12)}
      </code>
      <Copy text={request_id} label="Copy the whole id" />
      {run > 1 && <span className="chip">run {run}</span>}
      {epoch > 1 && <span className="chip">epoch {epoch}</span>}
      <StatusBadge status={waits_for_approval === null ? status : "waiting_approval"} />
    </span>
  );
}

export function RequestFacts({ request, release }: { request: Request; release: Release | null }) {
  const now = useNow();
  const { metadata, created_at, created_by, started_at, finished_at, run_at, data_type, labels } = request;
  const began = Date.parse(started_at ?? created_at);
  const { client_id, request_type } = metadata;
  return (
    <dl className="job-facts">
      <Fact name="Recipe">
        <Safe text={data_type} />
      </Fact>
      <Fact name="Asked">
        <Time at={created_at} /> by <Safe text={typeof client_id === "string" ? client_id : created_by} limit={80} />
        {typeof request_type === "string" && (
          <>
            {" "}
            (<Safe text={request_type} limit={60} />)
          </>
        )}
      </Fact>
      <Fact name={finished_at === null ? "Under way for" : "Took"}>
        <Duration ms={Math.max(0, (finished_at === null ? now : Date.parse(finished_at)) - began)} />
      </Fact>
      {run_at !== null && started_at === null && (
        <Fact name="Not before">
          <Time at={run_at} />
        </Fact>
      )}
      {request.priority !== 0 && <Fact name="Priority">{request.priority}</Fact>}
      {release !== null && <ReleaseFact release={release} request_id={request.request_id} />}
      {Object.keys(labels).length > 0 && (
        <Fact name="Labels">
          <span className="row">
            {Object.entries(labels).map(([key, value]) => (
              <span key={key} className="chip">
                <Safe text={`${key}=${String(value)}`} limit={120} />
              </span>
            ))}
          </span>
        </Fact>
      )}
    </dl>
  );
}

function ReleaseFact({ release, request_id }: { release: Release; request_id: string }) {
  const { dataset_id, resource_id, ordinal, revision, approval, wants_approval, clearance, reviewer, latest } = release;
  return (
    <Fact name="Release">
      <span className="release-fact">
        <Link href={to.resource(dataset_id, resource_id)}>
          version {ordinal}
          {revision > 1 && `, revision ${revision}`}
        </Link>
        {release.request_id !== request_id ? (
          <span className="muted">
            is made by <Link href={to.request(release.request_id)}>a later run</Link>
          </span>
        ) : wants_approval ? (
          <>
            <StatusBadge status={approval} />
            {reviewer !== null && (
              <span className="muted">
                by <Safe text={reviewer} limit={60} />, {clearance}
              </span>
            )}
          </>
        ) : (
          <span className="muted">{approval === "approved" ? "needs no approval" : approval}</span>
        )}
        {latest && <span className="chip">latest</span>}
      </span>
    </Fact>
  );
}

type Open = "revoke" | "unpublish" | "resume" | "again" | "cancel" | null;

export function RequestVerbs({ request, review }: { request: Request; review: Review | undefined }) {
  const [open, setOpen] = useState<Open>(null);
  const operate = useForbidden("operate");
  const release = review?.makes_it_now === true ? review.release : null;
  const facts = { request, release };
  const close = () => setOpen(null);
  const may_resume = why_not.resume(facts) === null && operate === null;
  useKeys(may_resume ? [{ keys: "r", what: "Resume the request", run: () => setOpen("resume") }] : []);
  return (
    <>
      <Decide request={request} release={release} offered={isAsked(facts)} />
      <Button
        kind={request.resumable ? "primary" : "plain"}
        forbidden={why_not.resume(facts) ?? operate}
        onClick={() => setOpen("resume")}
      >
        Resume
      </Button>
      {release?.approval === "approved" && release.wants_approval ? (
        <Button kind="danger" forbidden={operate} onClick={() => setOpen("revoke")}>
          Revoke
        </Button>
      ) : (
        <Button
          kind={request.finished_at === null ? "danger" : "plain"}
          forbidden={why_not.cancel(facts) ?? operate}
          onClick={() => setOpen("cancel")}
        >
          Cancel
        </Button>
      )}
      <More
        items={[
          { text: "Process it again", forbidden: why_not.again(facts) ?? operate, run: () => setOpen("again") },
          { text: "Revoke", forbidden: why_not.revoke(facts) ?? operate, run: () => setOpen("revoke") },
          { text: "Unpublish", forbidden: operate ?? noRelease(release), run: () => setOpen("unpublish") },
          {
            text: "Download status",
            run: () =>
              download(
                JSON.stringify(withoutSecretKeys(request), null, 2),
                `request-${request.request_id.slice(0, 12)}.json`,
                "application/json",
              ),
          },
        ]}
      />
      {open === "revoke" && (
        <DecideReleaseDialog verb="revoke" id={request.request_id} request_id={request.request_id} onClose={close} />
      )}
      {open === "unpublish" && (
        <UnpublishDialog id={request.request_id} forbidden={why_not.unpublish(facts)} onClose={close} />
      )}
      {(open === "resume" || open === "again") && (
        <ResubmitDialog request={request} mode={open === "resume" ? "resume" : "force"} onClose={close} />
      )}
      {open === "cancel" && <CancelDialog request={request} onClose={close} />}
    </>
  );
}

/** What would go can be looked at even where it must not go yet. */
function noRelease(release: Release | null): string | null {
  return release === null ? "It makes no release, or a later run of it does." : null;
}
