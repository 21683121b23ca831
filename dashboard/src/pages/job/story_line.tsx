// One line of a story: what happened, why, when, and who did it.
import type { ReactNode } from "react";
import { Safe, ShapeIcon, Time } from "../../ui/index.js";
import "./events.css";

interface StoryLineProps {
  event: { kind: string; at: string; actor: string; reason: string | null };
  text: string;
  sign: string;
  /** Beside the relative time. */
  clock?: ReactNode;
  /** Behind the kind. */
  about?: ReactNode;
  children?: ReactNode;
}

export function StoryLine({ event: { kind, at, actor, reason }, text, sign, clock, about, children }: StoryLineProps) {
  return (
    <li data-kind={kind}>
      <ShapeIcon status={sign} />
      <div className="grow">
        <p>
          <Safe text={text} limit={500} />
        </p>
        {reason !== null && reason !== "" && (
          <blockquote>
            <Safe text={reason} limit={1_000} />
          </blockquote>
        )}
        <p className="small muted">
          <Time at={at} /> · {clock}
          <Safe text={actor} limit={80} /> ·{" "}
          <code>
            <Safe text={kind} />
          </code>
          {about}
        </p>
        {children}
      </div>
    </li>
  );
}
