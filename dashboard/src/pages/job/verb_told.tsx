// What a verb told, in words: of a dry run what it would do, else what it did.

import { count, tasks } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { Safe } from "../../ui/index.js";
import type { Repaired } from "./records.js";
import "./why.css";

export function RepairTold({ told }: { told: Repaired }) {
  const { dry_run, again, at_least, kept, stages, epoch } = told;
  const follow = stages.reduce((sum, { at_most }) => sum + at_most, 0) - again;
  return (
    <div className="stack">
      <p>
        <strong>
          {at_least && "at least "}
          {tasks(again)} {dry_run ? "would run again" : again === 1 ? "runs again" : "run again"}
        </strong>
        {follow > 0 &&
          `, and ${at_least ? "those" : `at most ${count(follow)}`} that follow from ${again === 1 ? "it" : "them"}`}
        {kept > 0 && `; ${count(kept)} that completed ${kept === 1 ? "stays as it is" : "stay as they are"}`}.
        {!dry_run && ` This is epoch ${count(epoch)} of the job.`}
      </p>
      <table className="told">
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Again</th>
            <th scope="col">At most</th>
            <th scope="col">Kept</th>
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => (
            <tr key={stage.number}>
              <td>
                {stage.number} · <Safe text={stage.stage} />
                {stage.follows && <span className="muted"> follows</span>}
              </td>
              <td>{count(stage.again)}</td>
              <td>{count(stage.at_most)}</td>
              <td>{count(stage.kept)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CancelTold({ told }: { told: Reply<"cancel"> }) {
  const { dry_run, changed, queued, running } = told;
  if (!dry_run && !changed) return <p>It was cancelled already: nothing changed.</p>;
  return (
    <p>
      {tasks(queued)} that {queued === 1 ? "waits" : "wait"} {dry_run ? "would be" : queued === 1 ? "was" : "were"}{" "}
      dropped, {count(running)} that {running === 1 ? "runs" : "run"}{" "}
      {dry_run ? "would be" : running === 1 ? "was" : "were"} told to stop. What is done stays.
    </p>
  );
}

interface PauseToldProps {
  told: { dry_run: boolean; changed: boolean; queued: number };
  verb: "pause" | "continue";
}

export function PauseTold({ told, verb }: PauseToldProps) {
  const { dry_run, changed, queued } = told;
  if (!dry_run && !changed) return <p>Nothing changed: it was {verb === "pause" ? "paused already" : "not paused"}.</p>;
  const would = dry_run ? "would " : "";
  if (verb === "pause")
    return (
      <p>
        {tasks(queued)} {`${would}${dry_run ? "wait" : queued === 1 ? "waits" : "wait"}`}; what runs may finish.
      </p>
    );
  return (
    <p>
      {tasks(queued)} {dry_run ? "could" : "may"} run.
    </p>
  );
}
