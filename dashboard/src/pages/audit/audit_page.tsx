// Who did what and when.
import { Link } from "wouter";
import { cliLine, curlLine } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  Checkbox,
  CliAndCurl,
  Empty,
  FirstRead,
  Input,
  Page,
  Safe,
  Select,
  Table,
  Time,
} from "../../ui/index.js";
import { type AuditEntry, kind_choices, targetOf, wordsOf } from "./audit_words.js";
import "./audit.css";

const none = { actor: "", kind: "", job: "", after: "", before: "", submits: "", cursor: "" };

export function AuditPage() {
  const forbidden = useForbidden("admin");
  if (forbidden !== null) {
    return (
      <Page title="Audit">
        <Empty title="The audit is for administrators">{forbidden} Ask a person who has it.</Empty>
      </Page>
    );
  }
  return <Audit />;
}

/** A day as it is chosen, in the reader's zone. */
function moment(day: string, end: boolean): string | undefined {
  if (day === "") return undefined;
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  if (end) at.setDate(at.getDate() + 1);
  return at.toISOString();
}

function Audit() {
  const [asked, set] = useQueryState(none);
  const { actor, kind, job, after, before, submits, cursor } = asked;
  const job_id = /^[0-9a-f]{4,64}$/.test(job) ? job : "";
  // Who asks for submits, or for one job, wants them; else they would hide everything else.
  const with_submits = submits === "true" || kind === "job.submitted" || kind === "job." || job_id !== "";
  const filter = {
    actor,
    kind,
    job_id,
    after: moment(after, false),
    before: moment(before, true),
    submits: with_submits ? ("true" as const) : ("false" as const),
  };
  const { data, error, isFetching } = useGet(
    "audit.list",
    { ...filter, limit: 50, cursor },
    { when: () => cursor === "", every_ms: 30_000 },
  );
  const change = (next: Partial<typeof none>, replace = false) => set({ cursor: "", ...next }, { replace });
  const filtered = actor !== "" || kind !== "" || job !== "" || after !== "" || before !== "";
  return (
    <Page title="Audit" actions={filtered && <Button onClick={() => set(none)}>Clear the filter</Button>}>
      <div className="audit-filter">
        <Input
          label="Who"
          value={actor}
          placeholder="key:…, a login"
          data-search
          onChange={({ target }) => change({ actor: target.value }, true)}
        />
        <Select
          label="What"
          value={kind}
          options={[{ value: "", text: "anything" }, ...kind_choices]}
          onChange={({ target }) => change({ kind: target.value })}
        />
        <Input
          label="Job"
          value={job}
          placeholder="id, or its beginning"
          problem={job !== "" && job_id === "" ? "At least 4 characters of 0-9 and a-f" : null}
          onChange={({ target }) => change({ job: target.value.trim() }, true)}
        />
        <Input label="From" type="date" value={after} onChange={({ target }) => change({ after: target.value })} />
        <Input label="Until" type="date" value={before} onChange={({ target }) => change({ before: target.value })} />
        <Checkbox
          label="with submits"
          checked={with_submits}
          onChange={({ target }) => change({ submits: target.checked ? "true" : "" })}
        />
      </div>
      <FirstRead data={data} error={error} title="The audit cannot be read" lines={6} />
      {data !== undefined && data.deeds.length === 0 && (
        <Empty title={data.next === null ? "No entry fits" : "Nothing of it among the newest"}>
          {data.next === null
            ? "What people and keys do is kept here; what the engine does by itself is in the events of a job."
            : "Go on to look further back."}
        </Empty>
      )}
      {data !== undefined && data.deeds.length > 0 && (
        <div aria-busy={isFetching}>
          <Table
            caption="Who did what, newest first"
            rows={data.deeds}
            rowKey={({ event_id }) => String(event_id)}
            columns={[
              { title: "When", cell: ({ at }) => <Time at={at} /> },
              {
                title: "Who",
                cell: (entry) => <Who entry={entry} onChoose={(who) => change({ actor: who })} />,
              },
              {
                title: "What",
                cell: (entry) => (
                  <span title={entry.kind}>
                    <Safe text={wordsOf(entry)} />
                  </span>
                ),
              },
              { title: "Which", cell: (entry) => <Which entry={entry} /> },
              { title: "Why", cell: ({ reason }) => reason !== null && <Safe text={reason} limit={300} /> },
            ]}
          />
        </div>
      )}
      <div className="row">
        {cursor !== "" && <Button onClick={() => set({ cursor: "" })}>Newest</Button>}
        {data?.next != null && (
          <Button onClick={() => set({ cursor: data.next ?? "" })}>
            {data.deeds.length === 0 ? "Look further back" : "Older"}
          </Button>
        )}
      </div>
      <CliAndCurl
        cli={cliLine(["audit"], {
          actor,
          kind,
          job: job_id,
          after: filter.after,
          before: filter.before,
          "no-submits": !with_submits,
        })}
        curl={curlLine(pageBase(), { method: "GET", path: "/api/audit", query: filter })}
      />
    </Page>
  );
}

/** The key by its name, and the person behind it. */
function Who({ entry: { actor, key_name, key_id }, onChoose }: { entry: AuditEntry; onChoose(actor: string): void }) {
  const person = / \((.*)\)$/s.exec(actor)?.[1];
  const base = key_id === null ? (actor.split(" (")[0] ?? actor) : `key:${key_id}`;
  return (
    <div className="audit-who">
      <button type="button" className="audit-actor" title={`Only what ${base} did`} onClick={() => onChoose(base)}>
        <Safe text={key_name ?? base} limit={80} />
      </button>
      {(person !== undefined || key_name !== null) && (
        <span className="muted small">
          <Safe text={[person, key_name === null ? null : base].filter((one) => one != null).join(" · ")} limit={120} />
        </span>
      )}
    </div>
  );
}

function Which({ entry }: { entry: AuditEntry }) {
  const target = targetOf(entry);
  const text = target.to === "job" ? `${entry.job_type ?? "job"} ${target.id.slice(0, 12)}` : target.id;
  const href = {
    job: () => to.job(target.id),
    task: () => to.task(target.id),
    schedule: () => to.schedules(target.id),
    webhook: () => to.webhooks(target.id),
    keys: () => to.keys(),
    limits: () => to.limits(),
    none: () => null,
  }[target.to]();
  return (
    <span>
      {href === null ? (
        <Safe text={text} limit={100} />
      ) : (
        <Link href={href}>
          <Safe text={text} limit={100} />
        </Link>
      )}
      {entry.stage !== null && (
        <span className="muted">
          , stage <Safe text={entry.stage} limit={63} />
        </span>
      )}
    </span>
  );
}
