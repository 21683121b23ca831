// A value to look into: folded where it is large, numbers with all their digits, to copy and to download.
import { isLosslessNumber, parse } from "lossless-json";
import { useMemo, useState } from "react";
import { Copy } from "./command.js";
import { Safe } from "./text.js";

const FOLDED_OVER = 40;
const MOST_SHOWN = 500;
const MOST_CHARACTERS = 2_000_000;

/** `text` is JSON as the server sent it. */
export function Json({ text, name = "value", open = 2 }: { text: string; name?: string; open?: number }) {
  const value = useMemo(() => {
    if (text.length > MOST_CHARACTERS) return undefined;
    try {
      return { parsed: parse(text) };
    } catch {
      return undefined;
    }
  }, [text]);
  return (
    <div className="json">
      <div className="json-tools row">
        <Copy text={text} label={`Copy ${name}`} />
        <DownloadLink text={text} name={`${name}.json`} type="application/json" />
      </div>
      {value === undefined ? (
        <p className="muted">
          This is too large to show ({text.length.toLocaleString("en-US")} characters). Download it.
        </p>
      ) : (
        <div className="json-tree">
          <Node value={value.parsed} depth={0} open={open} />
        </div>
      )}
    </div>
  );
}

/** Of a value that was parsed already, and has no large numbers. */
export function JsonOf({ value, name, open }: { value: unknown; name?: string; open?: number }) {
  return (
    <Json
      text={JSON.stringify(value ?? null, null, 2)}
      {...(name === undefined ? {} : { name })}
      {...(open === undefined ? {} : { open })}
    />
  );
}

function Node({ value, depth, open }: { value: unknown; depth: number; open: number }) {
  if (value === null) return <span className="json-word">null</span>;
  if (isLosslessNumber(value)) return <span className="json-number">{String(value)}</span>;
  if (typeof value === "boolean") return <span className="json-word">{String(value)}</span>;
  if (typeof value === "string") {
    return (
      <span className="json-text">
        "<Safe text={value} />"
      </span>
    );
  }
  return <Branch value={value as object} depth={depth} open={open} />;
}

function Branch({ value, depth, open }: { value: object; depth: number; open: number }) {
  const is_list = Array.isArray(value);
  const entries = Object.entries(value);
  const [shown, setShown] = useState(depth < open && entries.length <= FOLDED_OVER);
  const [most, setMost] = useState(MOST_SHOWN);
  const size = `${entries.length.toLocaleString("en-US")} ${is_list ? "items" : "keys"}`;
  if (entries.length === 0) return <span className="json-word">{is_list ? "[]" : "{}"}</span>;
  return (
    <span className="json-branch">
      <button type="button" className="json-fold" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {shown ? "▾" : "▸"} <span className="muted">{size}</span>
      </button>
      {shown && (
        <ul>
          {entries.slice(0, most).map(([key, child]) => (
            <li key={key}>
              <span className="json-key">
                <Safe text={key} />:{" "}
              </span>
              <Node value={child} depth={depth + 1} open={open} />
            </li>
          ))}
          {entries.length > most && (
            <li>
              <button type="button" className="json-fold" onClick={() => setMost(most + MOST_SHOWN)}>
                … {(entries.length - most).toLocaleString("en-US")} more
              </button>
            </li>
          )}
        </ul>
      )}
    </span>
  );
}

export function download(text: string | Blob, name: string, type: string): void {
  const url = URL.createObjectURL(text instanceof Blob ? text : new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function DownloadLink({ text, name, type }: { text: string; name: string; type: string }) {
  return (
    <button type="button" className="button plain small-button" onClick={() => download(text, name, type)}>
      Download
    </button>
  );
}
