// What a layer was, newest first: which job made each version, and how its columns changed.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type ApiProblem, call, type Reply } from "../../api/call.js";
import { to } from "../../routes.js";
import { Count, More, ProblemNote, Safe, Skeleton, Table, Time } from "../../ui/index.js";

type Page = Reply<"layers.versions">;
type Version = Page["versions"][number];

const PAGE_SIZE = 30;

export function VersionsTab({ name }: { name: string }) {
  const found = useInfiniteQuery<Page, ApiProblem, Version[], unknown[], number | null>({
    queryKey: ["layer versions", name],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      call("layers.versions", { layer_id: name, limit: PAGE_SIZE, before: pageParam ?? undefined }, signal),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ versions }) => versions),
    refetchInterval: 10_000,
  });
  if (found.error !== null) return <ProblemNote error={found.error} title="The versions cannot be read" />;
  if (found.data === undefined) return <Skeleton lines={5} />;
  return (
    <>
      <Table
        caption="Versions of the layer"
        rows={found.data}
        rowKey={({ version }) => String(version)}
        columns={[
          {
            title: "Version",
            cell: ({ version, retired_at, mode }) => (
              <>
                <strong>{version}</strong>{" "}
                {retired_at === null && mode !== "unpublish" && <span className="muted">served now</span>}
              </>
            ),
          },
          { title: "By", cell: ({ mode }) => mode },
          {
            title: "Features",
            align: "right",
            cell: ({ feature_count }) => <Count n={feature_count} />,
          },
          { title: "Rejected", align: "right", cell: (one) => <Rejected name={name} version={one} /> },
          { title: "Columns", cell: (one) => <Changes version={one} /> },
          {
            title: "Job",
            cell: ({ job_id }) =>
              job_id === null ? (
                <span className="muted">–</span>
              ) : (
                <Link href={to.job(job_id)}>{job_id.slice(0, 8)}</Link>
              ),
          },
          { title: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      <More of={found}>Older versions</More>
    </>
  );
}

function Rejected({ name, version: { rejected_count, job_id } }: { name: string; version: Version }) {
  if (rejected_count === 0) return <span className="muted">none</span>;
  if (job_id === null) return <Count n={rejected_count} />;
  return (
    <Link href={to.layer(name, "rejects", { job: job_id })}>
      <Count n={rejected_count} />
    </Link>
  );
}

function Changes({ version }: { version: Version }) {
  const { columns_added, columns_removed, columns_changed, column_count } = version;
  const parts: [word: string, names: string[]][] = [
    ["new", columns_added],
    ["gone", columns_removed],
    ["of another type", columns_changed],
  ];
  const told = parts.filter(([, names]) => names.length > 0);
  if (told.length === 0) return <span className="muted">{column_count}</span>;
  return (
    <>
      {told.map(([word, names]) => (
        <div key={word}>
          <span className="muted">{word}: </span>
          <Safe text={names.slice(0, 8).join(", ") + (names.length > 8 ? ` and ${names.length - 8} more` : "")} />
        </div>
      ))}
    </>
  );
}
