// Resources of datasets: their newest and their latest version, what waits for a review, and a lookup as client systems do it.

import { useState } from "react";
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { to, useQueryState } from "../../routes.js";
import {
  CliAndCurl,
  Empty,
  FirstRead,
  Input,
  Page,
  Safe,
  Select,
  StatusBadge,
  Table,
  Time,
  Turn,
} from "../../ui/index.js";
import "./datasets.css";
import { LookupForm } from "./lookup_form.js";
import { approvals } from "./release_words.js";

type Dataset = Reply<"releases.datasets">["datasets"][number];

const PAGE_ROWS = 50;
const AGAIN_MS = 10_000;

export function DatasetsPage() {
  const [{ dataset, approval, cursor }, set] = useQueryState({ dataset: "", approval: "", cursor: "" });
  const [written, setWritten] = useState(dataset);
  const wanted = approvals.find((one) => one === approval);
  const query = {
    limit: PAGE_ROWS,
    dataset_id: dataset,
    approval: wanted,
    cursor,
  };
  const { data, error } = useGet("releases.datasets", query, {
    when: ({ kind }) => /^(request|release)\./.test(kind),
    every_ms: AGAIN_MS,
  });
  const { cli, curl } = verbCommands(
    pageBase(),
    "releases.datasets",
    { dataset_id: dataset, approval: wanted },
    { dataset_id: undefined, dataset },
  );
  const find = () => set({ dataset: written.trim(), cursor: "" });
  return (
    <Page title="Datasets">
      <form
        className="datasets-filter"
        aria-label="Filter"
        onSubmit={(event) => {
          event.preventDefault();
          find();
        }}
      >
        <Input
          label="Dataset"
          data-search
          placeholder="its id"
          value={written}
          onChange={({ target }) => setWritten(target.value)}
          onBlur={() => {
            if (written.trim() !== dataset) find();
          }}
        />
        <Select
          label="Newest version"
          value={wanted ?? ""}
          onChange={({ target }) => set({ approval: target.value, cursor: "" })}
          options={[
            { value: "", text: "any" },
            ...approvals.map((value) => ({ value, text: value === "pending_review" ? "waits for review" : value })),
          ]}
        />
      </form>
      <FirstRead data={data} error={error} title="The datasets cannot be read" lines={5} />
      {data !== undefined && data.datasets.length > 0 && <Rows datasets={data.datasets} />}
      {data !== undefined && data.datasets.length === 0 && (
        <Empty
          title={dataset === "" && wanted === undefined ? "No datasets yet" : "No dataset fits"}
          command="fanfold requests submit ./alps.tif --dataset dem --resource alps --version-id 1"
        >
          <p>
            A dataset's resource is here from its first request on, with a version for each that was asked for. Those
            that want a review are approved by a person; the latest is the highest that is approved.
          </p>
          <p>
            <Link href={to.ask()} className="button">
              Ask for one with the form
            </Link>
          </p>
        </Empty>
      )}
      <Turn page={data} cursor={cursor} onTurn={(to) => set({ cursor: to })} first="First page" next="More" />
      <LookupForm />
      <CliAndCurl cli={cli} curl={curl} />
    </Page>
  );
}

function Rows({ datasets }: { datasets: readonly Dataset[] }) {
  return (
    <Table<Dataset>
      caption="Resources of datasets, by name"
      rows={datasets}
      rowKey={({ dataset_id, resource_id }) => JSON.stringify([dataset_id, resource_id])}
      href={({ dataset_id, resource_id }) => to.resource(dataset_id, resource_id)}
      columns={[
        {
          title: "Resource",
          cell: ({ dataset_id, resource_id }) => (
            <Link href={to.resource(dataset_id, resource_id)}>
              <Safe text={`${dataset_id} / ${resource_id}`} limit={200} />
            </Link>
          ),
        },
        { title: "Versions", align: "right", cell: ({ releases }) => count(releases) },
        {
          title: "Newest",
          cell: ({ newest }) => (
            <span className="release-cell">
              <Link href={to.request(newest.request_id)}>
                <Safe text={newest.version_id} limit={50} />
              </Link>
              <StatusBadge status={newest.wants_approval ? newest.approval : newest.status} />
            </span>
          ),
        },
        {
          title: "Latest",
          cell: ({ latest }) =>
            latest === null ? (
              <span className="muted">none is approved</span>
            ) : (
              <span className="release-cell">
                <Link href={to.request(latest.request_id)}>
                  <Safe text={latest.version_id} limit={50} />
                </Link>
                <span className="muted small">{latest.clearance}</span>
              </span>
            ),
        },
        { title: "Changed", align: "right", cell: ({ newest }) => <Time at={newest.updated_at} /> },
      ]}
    />
  );
}
