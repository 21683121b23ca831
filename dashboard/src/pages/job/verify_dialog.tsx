// Proves a job from its rows and files, on demand: every result is counted, every spilled file read.
import { useQuery } from "@tanstack/react-query";
import { count } from "../../../../src/core/shown/figures.js";
import { call } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { CliAndCurl, Dialog, ProblemNote, Safe, Skeleton, StatusBadge } from "../../ui/index.js";
import type { Verified } from "./records.js";
import "./why.css";

export function VerifyDialog({ job_id, onClose }: { job_id: string; onClose(): void }) {
  const { data, error } = useQuery({
    queryKey: ["verify", job_id],
    queryFn: ({ signal }) => call("verify", { job_id }, signal),
    // Proved when it is asked for, and not kept: a proof is of its moment.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const commands = verbCommands(pageBase(), "verify", { job_id });
  return (
    <Dialog title="Verify the job" onClose={onClose} wide>
      <p className="muted">
        Every task must be in exactly one place, the ledgers must add up to what the rows say, and every file must be
        what was written.
      </p>
      {data === undefined && error === null && <Skeleton lines={2} />}
      <ProblemNote error={error} />
      {data !== undefined && <Proof verified={data} />}
      <CliAndCurl cli={commands.cli} curl={commands.curl} />
    </Dialog>
  );
}

function Proof({ verified: { ok, problems, stages, files, file_count } }: { verified: Verified }) {
  return (
    <>
      <div className={`note ${ok ? "ok" : "danger"}`} role="status">
        {ok ? (
          <p>
            <strong>All is as it should be.</strong>{" "}
            {file_count > 0 && `${count(files)} of ${count(file_count)} files were read and compared.`}
          </p>
        ) : (
          <>
            <p>
              <strong>
                {problems.length === 1 ? "One thing is wrong:" : `${count(problems.length)} things are wrong:`}
              </strong>
            </p>
            <ul>
              {problems.slice(0, 200).map((problem) => (
                <li key={problem}>
                  <Safe text={problem} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <div className="scrolls">
        <table className="told">
          <thead>
            <tr>
              {["Stage", "Status", "Tasks", "Ready", "Held", "Completed", "Failed", "Skipped", "Absent"].map(
                (title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {stages.map((stage) => (
              <tr key={stage.number}>
                <td>
                  {stage.number} · <Safe text={stage.stage} />
                </td>
                <td>
                  <StatusBadge status={stage.status} />
                </td>
                {[
                  stage.total,
                  stage.ready,
                  stage.claims,
                  stage.completed,
                  stage.failed,
                  stage.skipped,
                  stage.absent,
                ].map((n, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns
                  <td key={at}>{count(n)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
