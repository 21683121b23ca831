// What proves an answer, as a small table: times as times, ids as links, lists of alike records as rows.
import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { to } from "../../routes.js";
import { Safe, Time } from "../../ui/index.js";

const MOST_ROWS = 50;

export function Evidence({ value }: { value: unknown }) {
  const rows = useMemo(() => Object.entries(isRecord(value) ? value : { value }), [value]);
  return (
    <div className="evidence">
      <table>
        <tbody>
          {rows.map(([key, one]) => (
            <tr key={key}>
              <th scope="row">
                <Safe text={key.replaceAll("_", " ")} />
              </th>
              <td>
                <Value name={key} value={one} depth={0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({ name, value, depth }: { name: string; value: unknown; depth: number }): ReactNode {
  if (value === null || value === undefined) return <span className="muted">–</span>;
  if (typeof value === "string") return <Text name={name} text={value} />;
  if (typeof value === "number") return <span className="number">{numberText(name, value)}</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (depth >= 3) return <code>{JSON.stringify(value).slice(0, 500)}</code>;
  if (!Array.isArray(value)) {
    return (
      <span className="evidence-inner">
        {Object.entries(value as object).map(([key, one]) => (
          <span key={key}>
            <span className="muted">
              <Safe text={key.replaceAll("_", " ")} />
            </span>{" "}
            <Value name={key} value={one} depth={depth + 1} />
          </span>
        ))}
      </span>
    );
  }
  if (value.length === 0) return <span className="muted">none</span>;
  if (!value.every(isRecord)) {
    return (
      <span className="evidence-inner">
        {value.slice(0, MOST_ROWS).map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list has no other names for what is in it
          <Value key={at} name={name} value={one} depth={depth + 1} />
        ))}
      </span>
    );
  }
  const columns = [...new Set(value.slice(0, MOST_ROWS).flatMap((one) => Object.keys(one)))];
  return (
    <table className="evidence-list">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              <Safe text={column.replaceAll("_", " ")} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {value.slice(0, MOST_ROWS).map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list has no other names for what is in it
          <tr key={at}>
            {columns.map((column) => (
              <td key={column}>
                <Value name={column} value={one[column]} depth={depth + 1} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  if (name === "task_id" && /^\d+-\d+$/.test(text)) return <Link href={to.task(text)}>{text}</Link>;
  if (/^(job_id|depends_on)$/.test(name) && /^[0-9a-f]{64}$/.test(text)) {
    return (
      <Link className="mono" href={to.job(text)}>
        {text.slice(0, 12)}
      </Link>
    );
  }
  if (/_at$/.test(name) && !Number.isNaN(Date.parse(text))) return <Time at={text} />;
  return <Safe text={text} limit={2_000} />;
}

function numberText(name: string, value: number): string {
  const text = value.toLocaleString("en-US", { maximumFractionDigits: 3 });
  if (/_s$/.test(name) && !/per_s$/.test(name)) return `${text} s`;
  return /_ms$/.test(name) ? `${text} ms` : text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
