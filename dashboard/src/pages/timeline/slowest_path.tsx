// The chain of tasks that the job waited for, told in a sentence and as a bar of its parts.
import { Link } from "wouter";
import { to } from "../../routes.js";
import { Safe } from "../../ui/index.js";
import type { Step } from "./layout.js";
import { durationWords, pathAdvice, stepWords } from "./words.js";

const parts = [
  { key: "approval_ms", word: "waiting for approval", colour: "--st-later" },
  { key: "planning_ms", word: "planning", colour: "--st-skipped" },
  { key: "waiting_ms", word: "waiting for a worker", colour: "--st-queued" },
  { key: "lost_ms", word: "in attempts that came to nothing", colour: "--st-failed" },
  { key: "retry_ms", word: "between failures and the next try", colour: "--st-retrying" },
  { key: "running_ms", word: "running", colour: "--st-completed" },
] as const;

interface SlowestPathProps {
  path: readonly Step[];
  /** Stages of one task: its name says nothing. */
  singles: ReadonlySet<number>;
  is_open: boolean;
}

export function SlowestPath({ path, singles, is_open }: SlowestPathProps) {
  const [first, last] = [path[0], path.at(-1)];
  if (first === undefined || last === undefined) return null;
  const whole = last.to - first.from;
  return (
    <div className="tl-path">
      <p>
        <strong>
          The slowest path {is_open ? "has taken" : "took"} {durationWords(whole)}:
        </strong>{" "}
        {path.map((step, position) => (
          <span key={step.stage_id}>
            {position > 0 && " → "}
            {!singles.has(step.stage_id) && (
              <>
                <Safe text={step.stage} limit={60} />{" "}
              </>
            )}
            <Link href={to.task(step.task_id)}>
              <Safe text={singles.has(step.stage_id) ? step.stage : step.index} limit={60} />
            </Link>{" "}
            {stepWords(step, whole)}
          </span>
        ))}
        . <span className="muted">{pathAdvice(path)}</span>
      </p>
      <div
        className="tl-path-bar"
        role="img"
        aria-label={`The slowest path: ${path.map((step) => `${step.stage} ${durationWords(step.to - step.from)}`).join(", ")}`}
      >
        {path.map((step) => (
          <span
            key={step.stage_id}
            className="tl-path-step"
            style={{ flexGrow: Math.max(step.to - step.from, whole * 0.01, 1) }}
          >
            {parts
              .filter(({ key }) => step[key] > 0)
              .map(({ key, word, colour }) => (
                <span
                  key={key}
                  title={`${step.stage} ${step.index}: ${durationWords(step[key])} ${word}`}
                  style={{ flexGrow: step[key], background: `var(${colour})` }}
                />
              ))}
          </span>
        ))}
      </div>
    </div>
  );
}
