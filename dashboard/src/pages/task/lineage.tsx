// Where a task's input came from, and where its result went.

import { Link } from "wouter";
import { count, tasks } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { type BarPart, Card, ProblemNote, Safe, ShapeIcon, Skeleton, StackedBar } from "../../ui/index.js";
import type { Task } from "./reading.js";

type Lineage = Reply<"tasks.lineage">;
type LinkedStage = Lineage["up"][number];

const up_words: Record<LinkedStage["how"], (link: LinkedStage) => string> = {
  task: () => "It took the result of one task.",
  batch: (link) => `It took the results of a batch of ${tasks(link.tasks)}.`,
  all: (link) =>
    link.tasks === 1
      ? "It could read the one task of this stage."
      : `It could read all ${tasks(link.tasks)} of this stage.`,
  plan: (link) => `A planner made it of the results of ${tasks(link.tasks)}.`,
  unplanned: () => "This stage has no tasks yet.",
};
const down_words: Record<LinkedStage["how"], (link: LinkedStage) => string> = {
  task: (link) => (link.tasks === 1 ? "One task takes its result." : `${tasks(link.tasks)} were made of its result.`),
  batch: () => "One task takes its result together with others of the batch.",
  all: (link) => (link.tasks === 1 ? "One task reads all of this stage." : `${tasks(link.tasks)} can read its result.`),
  plan: (link) => `A planner makes ${tasks(link.tasks)} of all results of this stage.`,
  unplanned: () => "This stage has no tasks yet: it opens when the stages before it have ended.",
};

export function LineageCard({ task }: { task: Task }) {
  const { data, error, isPending } = useGet(
    "tasks.lineage",
    { task_id: task.task_id },
    { when: ({ job_id, kind }) => job_id === task.job_id && kind.startsWith("stage."), enabled: task.job_id !== null },
  );
  if (task.job_id === null) {
    return (
      <Card title="Lineage">
        <p className="muted">This task stands alone: nothing came before it, and nothing follows.</p>
      </Card>
    );
  }
  return (
    <Card title="Lineage">
      <ProblemNote error={error} title="The lineage cannot be read" />
      {isPending && <Skeleton lines={2} />}
      {data !== undefined && (
        <div className="lineage">
          <Side
            title="Came from"
            links={data.up}
            words={up_words}
            job_id={task.job_id}
            none="Its stage is the first: it was given the job's own parameters."
          />
          <Side
            title="Led to"
            links={data.down}
            words={down_words}
            job_id={task.job_id}
            none="No stage follows: its result is part of what the job delivers."
          />
        </div>
      )}
    </Card>
  );
}

interface SideProps {
  title: string;
  links: readonly LinkedStage[];
  words: Record<LinkedStage["how"], (link: LinkedStage) => string>;
  job_id: string;
  none: string;
}

function Side({ title, links, words, job_id, none }: SideProps) {
  return (
    <section className="stack">
      <h3>{title}</h3>
      {links.length === 0 && <p className="muted">{none}</p>}
      {links.map((link) => (
        <div key={link.stage_id} className="lineage-link">
          <p>
            <Link href={to.job(job_id, "tasks", { stage: link.number })}>
              <strong>
                {link.number} <Safe text={link.stage} />
              </strong>
            </Link>{" "}
            <span className="muted small">{words[link.how](link)}</span>
          </p>
          {link.counts !== null && link.tasks > 1 && (
            <StackedBar parts={partsOf(link.counts)} total={link.tasks} label={`Tasks of ${link.stage}`} />
          )}
          {link.first.length > 0 && (
            <ul className="lineage-tasks">
              {link.first.map(({ task_id, index, status }) => (
                <li key={task_id}>
                  <Link href={to.task(task_id)} className="lineage-task">
                    <ShapeIcon status={status} size={11} />
                    <Safe text={index} limit={60} />
                    <span className="sr-only"> ({status})</span>
                  </Link>
                </li>
              ))}
              {link.tasks > link.first.length && (
                <li className="muted small">and {count(link.tasks - link.first.length)} more</li>
              )}
            </ul>
          )}
        </div>
      ))}
    </section>
  );
}

function partsOf(counts: NonNullable<LinkedStage["counts"]>): BarPart[] {
  const { completed, failed, skipped, cancelled = 0 } = counts;
  return [
    { status: "completed", n: completed },
    { status: "failed", n: failed },
    { status: "skipped", n: skipped },
    { status: "cancelled", n: cancelled },
  ];
}
