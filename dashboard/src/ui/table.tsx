// Rows to look through: j and k move, Enter opens. At 360 px a row becomes a card, its cells named by their columns.
import { type ReactNode, useRef } from "react";
import { useLocation } from "wouter";
import { useKeys } from "./keys.js";

export interface Column<Row> {
  /** Where styles tell it from the others. */
  id?: string;
  title: ReactNode;
  cell(row: Row): ReactNode;
  /** Numbers stand right. */
  align?: "right";
  /** Left out where there is little room. */
  minor?: boolean;
}

interface TableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  /** Where Enter leads, and a click beside links. */
  href?(row: Row): string;
  caption: string;
  rowClass?(row: Row): string | undefined;
}

export function Table<Row>({ columns, rows, rowKey, href, caption, rowClass }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [, navigate] = useLocation();
  const move = (by: number) => {
    const all = [...(body.current?.querySelectorAll<HTMLTableRowElement>("tr") ?? [])];
    const at = all.indexOf(document.activeElement?.closest("tr") as HTMLTableRowElement);
    all[Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  useKeys([
    { keys: "j", what: "Next row", run: () => move(1) },
    { keys: "k", what: "Row before", run: () => move(-1) },
  ]);
  return (
    <div className="table-box">
      <table className="table">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, align, minor }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
              <th key={at} scope="col" data-align={align} data-minor={minor}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              tabIndex={-1}
              className={rowClass?.(row)}
              data-opens={href === undefined ? undefined : true}
              onKeyDown={(event) => {
                if (event.key === "Enter" && event.target === event.currentTarget && href !== undefined)
                  navigate(href(row));
              }}
              onClick={(event) => {
                if (
                  href === undefined ||
                  (event.target as Element).closest("a, button, input, label, summary, select") !== null
                )
                  return;
                // A reader who marks text does not want to leave.
                if (String(window.getSelection()) === "") navigate(href(row));
              }}
            >
              {columns.map(({ id, title, cell, align, minor }, at) => (
                <td
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
                  key={at}
                  data-column={id}
                  data-align={align}
                  data-minor={minor}
                  data-title={typeof title === "string" ? title : undefined}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
