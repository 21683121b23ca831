// Platform requests, newest first: what was asked for, how far it is, and what waits for a person. The address is the state.
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { curlLine } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  CommandLine,
  Empty,
  FirstRead,
  Input,
  Page,
  Safe,
  Select,
  StatusBadge,
  Table,
  Time,
  useKeys,
} from "../../ui/index.js";
import { asked, filters, no_filters, standing } from "./asked.js";
import { FailurePatterns } from "./failure_patterns.js";
import type { RequestSummary } from "./records.js";
import "./requests.css";

const PAGE_ROWS = 50;
const AGAIN_MS = 5_000;
/** Not every letter is a question. */
const SETTLED_MS = 250;

export function RequestsPage() {
  const forbidden = useForbidden("submit");
  const [query, set] = useQueryState({ ...no_filters, cursor: "" });
  const settled = useSettled(query.text);
  const { data, error } = useGet(
    "requests.list",
    { limit: PAGE_ROWS, ...asked({ ...query, text: settled }), ...(query.cursor && { cursor: query.cursor }) },
    { when: ({ kind }) => /^(request|release|job)\./.test(kind), every_ms: AGAIN_MS },
  );
  const is_filtered = filters.some((name) => query[name] !== "");
  const older = () => {
    if (data?.next != null) set({ cursor: data.next });
  };
  useKeys([
    { keys: "n", what: "Older requests", run: older },
    { keys: "p", what: "To the newest requests", run: () => set({ cursor: "" }) },
  ]);
  return (
    <Page
      title="Requests"
      actions={
        forbidden === null ? (
          <Link href={to.ask()} className="button primary">
            Ask for a dataset
          </Link>
        ) : (
          <Button kind="primary" forbidden={forbidden}>
            Ask for a dataset
          </Button>
        )
      }
    >
      <Filters query={query} onChange={(change) => set({ ...change, cursor: "" }, { replace: "text" in change })} />
      <FailurePatterns />
      <FirstRead data={data} error={error} title="The requests cannot be read" lines={6} />
      {data !== undefined && data.requests.length > 0 && <Rows requests={data.requests} />}
      {data !== undefined &&
        data.requests.length === 0 &&
        (is_filtered || query.cursor !== "" ? (
          <Empty title={is_filtered ? "No request fits" : "No older requests"}>
            <Button onClick={() => set({ ...no_filters, cursor: "" })}>
              {is_filtered ? "Clear the filter" : "To the newest"}
            </Button>
          </Empty>
        ) : (
          <NoneYet />
        ))}
      <div className="row">
        {query.cursor !== "" && <Button onClick={() => set({ cursor: "" })}>Newest</Button>}
        {data?.next != null && <Button onClick={older}>Older</Button>}
      </div>
    </Page>
  );
}

const statuses = ["pending", "processing", "completed", "partial_success", "failed", "cancelled"];

interface FiltersProps {
  query: typeof no_filters;
  onChange(change: Partial<typeof no_filters>): void;
}

function Filters({ query, onChange }: FiltersProps) {
  const { data } = useGet("recipes.list");
  const types = [...new Set([...(data?.recipes.map(({ data_type }) => data_type) ?? []), query.data_type])].filter(
    (one) => one !== "",
  );
  return (
    <form className="requests-filter" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <Input
        label="Find"
        type="search"
        data-search
        placeholder="part of dataset/resource/version, or an id"
        value={query.text}
        onChange={({ target }) => onChange({ text: target.value })}
      />
      <Select
        label="Status"
        value={query.status}
        onChange={({ target }) => onChange({ status: target.value })}
        options={[
          { value: "", text: "any" },
          { value: "pending,processing", text: "under way" },
          { value: "failed,partial_success", text: "failed or in part" },
          ...statuses.map((value) => ({ value, text: value.replace("_", " ") })),
        ]}
      />
      <Select
        label="Data type"
        value={query.data_type}
        onChange={({ target }) => onChange({ data_type: target.value })}
        options={[{ value: "", text: "any" }, ...types.map((value) => ({ value, text: value }))]}
      />
      <Written
        label="Dataset"
        placeholder="its id"
        value={query.dataset}
        onWritten={(dataset) => onChange({ dataset })}
      />
      <Written
        label="Client"
        placeholder="which system asks"
        value={query.client}
        onWritten={(client) => onChange({ client })}
      />
    </form>
  );
}

interface WrittenProps {
  label: string;
  placeholder: string;
  value: string;
  onWritten(value: string): void;
}

/** A whole name: it counts when it is written to its end. */
function Written({ label, placeholder, value, onWritten }: WrittenProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => {
    if (text.trim() !== value) onWritten(text.trim());
  };
  return (
    <Input
      label={label}
      placeholder={placeholder}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={done}
      onKeyDown={({ key }) => {
        if (key === "Enter") done();
      }}
    />
  );
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Rows({ requests }: { requests: readonly RequestSummary[] }) {
  return (
    <Table
      caption="Requests, newest first"
      rows={requests}
      rowKey={({ request_id }) => request_id}
      href={({ request_id }) => to.request(request_id)}
      columns={[
        { title: "Status", cell: (request) => <StatusOf request={request} /> },
        {
          title: "Request",
          cell: ({ request_id, dataset_id, resource_id, version_id, run }) => (
            <div>
              <Link href={to.request(request_id)}>
                <Safe text={`${dataset_id} / ${resource_id} / ${version_id}`} limit={200} />
              </Link>
              {run > 1 && <span className="muted small"> run {run}</span>}
              <div className="muted small mono">{request_id.slice(0, 12)}</div>
            </div>
          ),
        },
        {
          title: "Data type",
          cell: ({ data_type }) => (
            <span className="nowrap">
              <Safe text={data_type} />
            </span>
          ),
        },
        { title: "Jobs", cell: (request) => <JobDots request={request} /> },
        {
          title: "Client",
          minor: true,
          cell: ({ metadata: { client_id }, created_by }) => (
            <span className="request-client">
              <Safe text={typeof client_id === "string" ? client_id : created_by} limit={60} />
            </span>
          ),
        },
        { title: "Created", align: "right", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}

/** What waits for a person is neither running nor stuck. */
function StatusOf({ request }: { request: RequestSummary }) {
  const waits = request.jobs.some(({ status }) => status === "waiting_approval");
  return <StatusBadge status={waits ? "waiting_approval" : request.status} />;
}

function JobDots({ request }: { request: RequestSummary }) {
  return (
    <div className="request-jobs">
      <ul aria-label="Jobs">
        {request.jobs.map(({ name, status }) => (
          <li key={name} title={`${name}: ${status.replaceAll("_", " ")}`}>
            <StatusBadge status={status} label={name} />
          </li>
        ))}
      </ul>
      <span className="muted small">{standing(request)}</span>
    </div>
  );
}

function NoneYet() {
  const body = { dataset_id: "dem", resource_id: "alps", version_id: "1", files: ["bronze:alps.tif"] };
  return (
    <Empty title="No requests yet">
      <div className="stack requests-lesson">
        <p>
          Name a dataset, a resource and a version, and say which files they are made of. A recipe says which jobs that
          takes; the request ends with the last of them, and answers with what was made: collection, items, files.
        </p>
        <CommandLine
          label="CLI"
          text="fanfold requests submit ./alps.tif --dataset dem --resource alps --version-id 1 --wait"
        />
        <CommandLine label="curl" text={curlLine(pageBase(), { method: "POST", path: "/api/platform/submit", body })} />
        <p>
          Which recipes there are: <code>fanfold requests recipes</code>.{" "}
          <Link href={to.ask()}>Ask for one with the form</Link>
        </p>
      </div>
    </Empty>
  );
}
