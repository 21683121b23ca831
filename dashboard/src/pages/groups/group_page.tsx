import { useState } from "react";
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { filterOf, to } from "../../routes.js";
import {
  Button,
  Card,
  CliAndCurl,
  Empty,
  Page,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
  Table,
  Time,
  VerbDialog,
} from "../../ui/index.js";
import { GroupBadge, GroupBar } from "./groups_page.js";
import { type Group, waitsFor } from "./standing.js";

const crumbs = [{ href: to.groups(), text: "Groups" }];
const AGAIN_MS = 5_000;

export function GroupPage({ group_id }: { group_id: string }) {
  const again = { when: ({ kind }: { kind: string }) => /^(group|job)\./.test(kind), every_ms: AGAIN_MS };
  const { data: group, error } = useGet("groups.get", { group_id }, again);
  const [doing, setDoing] = useState<"seal" | "cancel" | null>(null);
  const submit = useForbidden("submit");
  const operate = useForbidden("operate");
  if (group === undefined) {
    return (
      <Page title="Group" crumbs={crumbs}>
        {error === null ? (
          <Skeleton lines={5} />
        ) : error.status === 404 ? (
          <Empty title="There is no such group" command="fanfold groups">
            <Safe text={error.message} />
          </Empty>
        ) : (
          <ProblemNote error={error} />
        )}
      </Page>
    );
  }
  const ended = group.status === "open" ? null : "It has ended.";
  const commands = verbCommands(pageBase(), "groups.get", { group_id });
  return (
    <Page
      title={group_id}
      crumbs={crumbs}
      actions={
        <>
          <Button
            forbidden={ended ?? (group.sealed_at === null ? submit : "It is sealed already.")}
            onClick={() => setDoing("seal")}
          >
            Seal
          </Button>
          <Button
            kind="danger"
            forbidden={ended ?? (group.open === 0 ? "None of its jobs is open." : operate)}
            onClick={() => setDoing("cancel")}
          >
            Cancel its jobs
          </Button>
        </>
      }
    >
      <Card>
        <div className="row">
          <GroupBadge group={group} />
          {group.name !== null && <Safe text={group.name} limit={200} />}
        </div>
        <GroupBar group={group} />
        <p className="muted small">
          {waitsFor(group)} Opened <Time at={group.created_at} /> by <Safe text={group.created_by} limit={60} />
          {group.sealed_at !== null && (
            <>
              , sealed <Time at={group.sealed_at} />
            </>
          )}
          {group.finished_at !== null && (
            <>
              , ended <Time at={group.finished_at} />
            </>
          )}
          .
        </p>
      </Card>
      <Jobs group={group} />
      <CliAndCurl cli={commands.cli} curl={commands.curl} />
      {doing === "seal" && <SealDialog group_id={group_id} onClose={() => setDoing(null)} />}
      {doing === "cancel" && <CancelDialog group_id={group_id} onClose={() => setDoing(null)} />}
    </Page>
  );
}

const SHOWN_JOBS = 50;

function Jobs({ group: { group_id, total } }: { group: Group }) {
  const { data, error } = useGet(
    "groups.jobs",
    { group_id, limit: SHOWN_JOBS },
    { when: ({ kind }) => kind.startsWith("job."), every_ms: AGAIN_MS },
  );
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <ProblemNote error={error} />;
  if (data.jobs.length === 0) {
    return (
      <Empty title="No job has joined yet" command={`fanfold submit hello_world n=1 --group ${group_id}`}>
        A job joins when it is submitted with the group's name.
      </Empty>
    );
  }
  return (
    <>
      <Table
        caption="Jobs of the group, newest first"
        rows={data.jobs}
        rowKey={({ job_id }) => job_id}
        href={({ job_id }) => to.job(job_id)}
        columns={[
          { title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
          {
            title: "Job",
            cell: ({ job_id, job_type }) => (
              <Link href={to.job(job_id)}>
                <Safe text={job_type} /> <span className="mono muted">{job_id.slice(0, 8)}</span>
              </Link>
            ),
          },
          { title: "Created", align: "right", cell: ({ created_at }) => <Time at={created_at} /> },
          { title: "Ended", align: "right", cell: ({ finished_at }) => <Time at={finished_at} /> },
        ]}
      />
      <p>
        <Link href={to.jobs({ q: filterOf({ group: group_id }) })}>
          {total > data.jobs.length ? `All ${count(total)} jobs` : "These jobs"} in the list of jobs
        </Link>
        <span className="muted small">, with filters and verbs for all of them</span>
      </p>
    </>
  );
}

interface DialogProps {
  group_id: string;
  onClose(): void;
}

function SealDialog({ group_id, onClose }: DialogProps) {
  return (
    <VerbDialog
      does="groups.seal"
      fields={{ group_id }}
      title={`Seal ${group_id}`}
      verb="Seal it"
      reason="none"
      dry_run={false}
      tell={({ changed }) => <p>{changed ? "No more jobs can join." : "It was sealed already: nothing changed."}</p>}
      onClose={onClose}
    >
      No more jobs can join. It ends when all the jobs it has have ended.
    </VerbDialog>
  );
}

function CancelDialog({ group_id, onClose }: DialogProps) {
  return (
    <VerbDialog
      does="groups.cancel"
      fields={{ group_id }}
      title={`Cancel the jobs of ${group_id}`}
      verb="Cancel them"
      danger
      tell={({ dry_run, cancelled, left }) => (
        <p>
          <strong>{cancelled === 1 ? "1 job" : `${count(cancelled)} jobs`}</strong>{" "}
          {dry_run ? "would be" : cancelled === 1 ? "was" : "were"} cancelled.
          {left > 0 && ` ${count(left)} are left: do it again.`}
        </p>
      )}
      onClose={onClose}
    >
      Its open jobs end now. What completed stays, and each of them can be resumed.
    </VerbDialog>
  );
}
