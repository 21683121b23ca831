// The rows that did not become features of a layer, and why: of the job that made it, of another, or of all.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type ApiProblem, call, type Reply } from "../../api/call.js";
import { to, useQueryState } from "../../routes.js";
import { CommandLine, Count, Empty, More, ProblemNote, Safe, Select, Skeleton, Table } from "../../ui/index.js";

type Page = Reply<"layers.rejects">;

const PAGE_SIZE = 100;

export function RejectsTab({ name, made_by }: { name: string; made_by: string | null }) {
  const [{ job, code }, set] = useQueryState({ job: "", code: "" });
  const found = useInfiniteQuery<Page, ApiProblem, Page[], unknown[], string | null>({
    queryKey: ["layer rejects", name, job, code],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      call(
        "layers.rejects",
        { layer_id: name, limit: PAGE_SIZE, job_id: job, code, cursor: pageParam ?? undefined },
        signal,
      ),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages,
  });
  const codes = Object.entries(found.data?.[0]?.codes ?? {}).toSorted(([, a], [, b]) => b - a);
  const rejects = found.data?.flatMap((page) => page.rejects) ?? [];
  const jobs = [...new Set([job, made_by ?? ""].filter((one) => one !== ""))];
  return (
    <>
      <div className="layers-filter">
        <Select
          label="Met by"
          value={job}
          onChange={({ target }) => set({ job: target.value, code: "" })}
          options={[
            { value: "", text: "any job" },
            ...jobs.map((one) => ({
              value: one,
              text: `job ${one.slice(0, 12)}${one === made_by ? ", which made the layer" : ""}`,
            })),
          ]}
        />
        <Select
          label="Reason"
          value={code}
          onChange={({ target }) => set({ code: target.value })}
          options={[
            { value: "", text: "any" },
            ...[...new Set([...codes.map(([one]) => one), ...(code === "" ? [] : [code])])].map((one) => ({
              value: one,
              text: one.replaceAll("_", " "),
            })),
          ]}
        />
      </div>
      <ProblemNote error={found.error} title="The rejects cannot be read" />
      {found.data === undefined && found.error === null && <Skeleton lines={5} />}
      {found.data !== undefined && rejects.length === 0 && (
        <Empty title={job === "" && code === "" ? "Every row was taken" : "No reject fits"} />
      )}
      {rejects.length > 0 && (
        <>
          <p className="row layers-codes">
            {codes.map(([one, n]) => (
              <span key={one}>
                <Count n={n} /> <Safe text={one.replaceAll("_", " ")} limit={63} />
              </span>
            ))}
            {found.data?.[0]?.counted_all === false && <span className="muted">of the first 10,000</span>}
          </p>
          <Table
            caption="Rejected rows"
            rows={rejects}
            rowKey={(one) => `${one.job_id} ${one.layer} ${one.chunk} ${one.row_number}`}
            columns={[
              { title: "Row", align: "right", cell: ({ row_number }) => <Count n={row_number} /> },
              { title: "Reason", cell: (one) => <Safe text={one.code.replaceAll("_", " ")} limit={63} /> },
              {
                title: "What is wrong",
                cell: ({ reason }) => (
                  <span className="layers-reason">
                    <Safe text={reason} limit={500} />
                  </span>
                ),
              },
              { title: "Its values", cell: ({ properties }) => <Values properties={properties} /> },
              { title: "Source", cell: ({ source }) => <Safe text={source} limit={120} />, minor: true },
              {
                title: "Job",
                cell: ({ job_id }) => <Link href={to.job(job_id)}>{job_id.slice(0, 8)}</Link>,
                minor: true,
              },
            ]}
          />
          <More of={found}>More rejects</More>
          <CommandLine
            text={`fanfold layers rejects ${name}${code === "" ? "" : ` --code ${code}`} --json`}
            label="CLI"
          />
        </>
      )}
    </>
  );
}

const MOST_VALUES = 6;

function Values({ properties }: { properties: Record<string, unknown> | null }) {
  const all = Object.entries(properties ?? {});
  if (all.length === 0) return <span className="muted">–</span>;
  const shown = all.slice(0, MOST_VALUES).map(([name, value]) => `${name}: ${valueText(value)}`);
  return (
    <span className="layers-reason small">
      <Safe text={shown.join(", ")} limit={400} />
      {all.length > MOST_VALUES && <span className="muted"> and {all.length - MOST_VALUES} more</span>}
    </span>
  );
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
