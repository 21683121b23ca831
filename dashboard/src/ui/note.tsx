// What there is to say instead of, or beside, what was asked for.
import type { ReactNode } from "react";
import { ApiProblem } from "../api/call.js";
import { CommandLine } from "./command.js";
import { Safe } from "./text.js";

export function ProblemNote({ error, title }: { error: unknown; title?: string }) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof ApiProblem ? error : null;
  return (
    <div className="note danger" role="alert">
      <p>
        <strong>{title ?? "That did not work"}: </strong>
        <Safe text={problem?.message ?? (error instanceof Error ? error.message : error)} />
      </p>
      {problem !== null && problem.problems.length > 0 && (
        <ul>
          {problem.problems.map(({ path, problem: what, fix }) => (
            <li key={`${path} ${what}`}>
              <code>
                <Safe text={path} />
              </code>
              : <Safe text={what} /> {fix !== "" && <Safe text={`(${fix})`} />}
            </li>
          ))}
        </ul>
      )}
      {problem?.hint !== undefined && (
        <p className="muted">
          <Safe text={problem.hint} />
        </p>
      )}
    </div>
  );
}

/** Nothing is here yet: what would bring something. */
export function Empty({ title, children, command }: { title: string; children?: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children !== undefined && <div className="muted">{children}</div>}
      {command !== undefined && <CommandLine text={command} />}
    </div>
  );
}

export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines without a content of their own
        <span key={at} />
      ))}
    </div>
  );
}

interface FirstReadProps {
  data: unknown;
  error: unknown;
  title: string;
  lines?: number;
}

/** While something is read for the first time, and when it cannot be read. */
export function FirstRead({ data, error, title, lines }: FirstReadProps) {
  if (error !== null) return <ProblemNote error={error} title={title} />;
  return data === undefined ? <Skeleton lines={lines} /> : null;
}
