// One resource of a dataset: its versions, who decided what about each and why, which is the latest, and what a client is given.
import { useState } from "react";
import { Link } from "wouter";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  CliAndCurl,
  Empty,
  Page,
  ProblemNote,
  Safe,
  ShapeIcon,
  Skeleton,
  StatusBadge,
  Time,
} from "../../ui/index.js";
import "../job/job.css";
import { DecideReleaseDialog, UnpublishDialog } from "../requests/release_dialogs.js";
import { why_not } from "../requests/verb_rules.js";
import "../requests/requests.css";
import "./datasets.css";
import { LookupForm } from "./lookup_form.js";
import { decisionText, type ListedRelease, latestText } from "./release_words.js";

const crumbs = [{ href: to.datasets(), text: "Datasets" }];
const AGAIN_MS = 10_000;

/** Names stand in the query of the address: the router would decode a path twice. */
export function ResourcePage() {
  const [{ dataset: dataset_id, resource: resource_id }] = useQueryState({ dataset: "", resource: "" });
  return <Resource key={JSON.stringify([dataset_id, resource_id])} dataset_id={dataset_id} resource_id={resource_id} />;
}

function Resource({ dataset_id, resource_id }: { dataset_id: string; resource_id: string }) {
  const named = dataset_id !== "" && resource_id !== "";
  const { data, error } = useGet(
    "releases.releases",
    { dataset_id, resource_id },
    { enabled: named, when: ({ kind }) => /^(request|release)\./.test(kind), every_ms: AGAIN_MS },
  );
  const title = `${dataset_id} / ${resource_id}`;
  if (data === undefined) {
    return (
      <Page title={named ? title : "Dataset"} crumbs={crumbs}>
        {!named || error?.status === 404 ? (
          <Empty title="There is no such resource" command="fanfold datasets list">
            {error !== null && <Safe text={error.message} />}
          </Empty>
        ) : error === null ? (
          <Skeleton lines={6} />
        ) : (
          <ProblemNote error={error} />
        )}
      </Page>
    );
  }
  const resource = `${dataset_id}/${resource_id}`;
  const { cli, curl } = verbCommands(
    pageBase(),
    "releases.releases",
    { dataset_id, resource_id },
    { dataset_id: undefined, resource_id: undefined, resource },
  );
  return (
    <Page
      title={title}
      heading={<Safe text={title} limit={200} />}
      crumbs={crumbs}
      actions={
        <Link href={to.ask({ dataset: dataset_id, resource: resource_id })} className="button primary">
          Ask for a version
        </Link>
      }
    >
      <p className="job-verdict" data-verdict>
        <Safe text={latestText(data.releases)} limit={300} />
      </p>
      <ol className="stack bare-list releases" aria-label="Versions, newest first">
        {data.releases.map((release) => (
          <Release key={release.release_id} release={release} />
        ))}
      </ol>
      <LookupForm of={{ dataset_id, resource_id }} />
      <CliAndCurl cli={cli} curl={curl} />
    </Page>
  );
}

type Doing = "approve" | "reject" | "revoke" | "unpublish" | null;

function Release({ release }: { release: ListedRelease }) {
  const [doing, setDoing] = useState<Doing>(null);
  const operate = useForbidden("operate");
  const { version_id, ordinal, revision, approval, clearance, status, request_id, wants_approval, latest } = release;
  const close = () => setDoing(null);
  // By its name and not its id: that is what a person types.
  const id = `${release.dataset_id}/${release.resource_id}/${version_id}`;
  const named = id.split("/").length === 3 ? id : release.release_id;
  const waits = approval === "pending_review";
  const facts = {
    request: { status: "completed", finished_at: "", resumable: false, waits_for_approval: null } as const,
    release,
  };
  return (
    <li className="card release" data-version={version_id} data-approval={approval}>
      <header className="row release-head">
        <span className="muted number">{ordinal}</span>
        <h2>
          <Link href={to.request(request_id)}>
            <Safe text={version_id} limit={50} />
          </Link>
        </h2>
        <StatusBadge status={wants_approval ? approval : "approved"} label={wants_approval ? undefined : approval} />
        <span className="chip">{clearance}</span>
        {latest && <span className="chip release-latest">latest</span>}
        {revision > 1 && <span className="chip">revision {revision}</span>}
        <span className="row ends">
          {waits && (
            <>
              <Button kind="primary" className="small-button" forbidden={operate} onClick={() => setDoing("approve")}>
                Approve
              </Button>
              <Button className="small-button" forbidden={operate} onClick={() => setDoing("reject")}>
                Reject
              </Button>
            </>
          )}
          {approval === "approved" && (
            <Button className="small-button" forbidden={operate} onClick={() => setDoing("revoke")}>
              Revoke
            </Button>
          )}
          <Button className="small-button" forbidden={operate} onClick={() => setDoing("unpublish")}>
            Unpublish
          </Button>
        </span>
      </header>
      <p className="muted small">
        <Safe text={release.data_type} /> · its request <StatusBadge status={status} /> · asked for{" "}
        <Time at={release.created_at} /> by <Safe text={release.created_by} limit={80} />
        {!wants_approval && " · needs no approval"}
      </p>
      <Decisions release={release} />
      {(doing === "approve" || doing === "reject" || doing === "revoke") && (
        <DecideReleaseDialog verb={doing} id={named} request_id={request_id} onClose={close} />
      )}
      {doing === "unpublish" && <UnpublishDialog id={named} forbidden={why_not.unpublish(facts)} onClose={close} />}
    </li>
  );
}

interface DecisionsProps {
  release: ListedRelease;
}

/** All of them, newest first; a decision that was made at the gate of a request is the one the release itself tells. */
function Decisions({ release: { decisions, reviewer, reason, decided_at, approval, clearance } }: DecisionsProps) {
  const told = decisions.map((one) => ({ ...decisionText(one), by: one.by, at: one.at, reason: one.reason }));
  if (decided_at !== null && !told.some(({ at }) => at === decided_at)) {
    const own = decisionText({ decision: approval, by: "", at: decided_at, reason: null, clearance, revision: null });
    told.push({ ...own, by: reviewer ?? "somebody", at: decided_at, reason });
  }
  if (told.length === 0) return null;
  return (
    <ul className="bare-list decisions small">
      {told
        .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .map(({ text, sign, by, at, reason: why }) => (
          <li key={`${at} ${text}`}>
            <ShapeIcon status={sign} size={12} />
            <span>
              {text} by <Safe text={by} limit={80} /> <Time at={at} />
              {why !== null && why !== "" && (
                <>
                  : <Safe text={why} limit={500} />
                </>
              )}
            </span>
          </li>
        ))}
    </ul>
  );
}
