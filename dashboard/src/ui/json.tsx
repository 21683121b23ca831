// A value to look into: folded where it is large, numbers with all their digits, searched, to copy and to download. However long it
// is, only the rows in sight are on the page.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { announce } from "./announce.js";
import { Copy, copyText } from "./command.js";
import {
  findNodes,
  indented,
  isBranch,
  type JsonNode,
  type JsonRow,
  pathOf,
  readJson,
  shownRows,
} from "./json_text.js";
import { Safe } from "./text.js";
import "./json.css";

const FOLDED_OVER = 40;
const VIRTUAL_OVER = 150;
const SEARCHED_OVER = 12;
const MOST_CHARACTERS = 2_000_000;
const LONG_TEXT = 400;

/** `text` is JSON as the server sent it. */
export function Json({ text, name = "value", open = 2 }: { text: string; name?: string; open?: number }) {
  const root = useMemo(() => {
    if (text.length > MOST_CHARACTERS) return null;
    try {
      return readJson(text);
    } catch {
      return null;
    }
  }, [text]);
  if (root !== null) return <Tree key={name} text={text} root={root} name={name} open={open} />;
  return (
    <div className="json">
      <div className="json-tools row">
        <DownloadLink text={text} name={`${name}.json`} type="application/json" />
      </div>
      <p className="muted">
        This is too large to show ({text.length.toLocaleString("en-US")} characters). Download it.
      </p>
    </div>
  );
}

/** Shows a value that was parsed already, and has no large numbers. */
export function JsonOf({ value, name, open }: { value: unknown; name?: string; open?: number }) {
  return <Json text={JSON.stringify(value ?? null, null, 2)} name={name} open={open} />;
}

function Tree({ text, root, name, open }: { text: string; root: JsonNode; name: string; open: number }) {
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const search_id = useId();
  const searched = useDeferredValue(words.trim());
  const found = useMemo(() => findNodes(root, searched), [root, searched]);
  const current = found.length === 0 ? undefined : found[at % found.length];
  const lit = useMemo(() => new Set(found), [found]);
  // What leads to the hit that is looked at is open, whatever was folded.
  const way = useMemo(() => {
    const nodes = new Set<JsonNode>();
    for (let node = current?.parent ?? null; node !== null; node = node.parent) nodes.add(node);
    return nodes;
  }, [current]);
  const rows = useMemo(
    () =>
      shownRows(
        root,
        (node, depth) =>
          way.has(node) ||
          (turned.get(pathOf(node)) ?? (depth < open && (depth === 0 || node.children.length <= FOLDED_OVER))),
      ),
    [root, way, turned, open],
  );
  const turn = ({ node, open: is_open }: JsonRow) => setTurned(new Map(turned).set(pathOf(node), !is_open));
  const all = (is_open: boolean) => {
    const next = new Map<string, boolean>();
    for (const { node } of shownRows(root, () => true)) {
      if (isBranch(node) && next.size < 5000) next.set(pathOf(node), is_open || node === root);
    }
    setTurned(next);
  };
  const step = (by: number) => setAt((at + by + found.length) % Math.max(found.length, 1));
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  };
  const is_large = isBranch(root) && (rows.length > SEARCHED_OVER || text.length > 2000);
  return (
    <div className="json">
      <div className="json-tools row">
        {is_large && (
          <>
            <label className="sr-only" htmlFor={search_id}>
              Search in {name}
            </label>
            <input
              id={search_id}
              type="search"
              className="text-input json-search"
              placeholder="Search"
              value={words}
              onChange={({ target }) => {
                setWords(target.value);
                setAt(0);
              }}
              onKeyDown={onSearchKey}
            />
            {searched !== "" && (
              <span className="muted small nowrap" role="status">
                {found.length === 0
                  ? "nothing found"
                  : `${(at % found.length) + 1} of ${found.length}${found.length === 1000 ? "+" : ""}`}
              </span>
            )}
          </>
        )}
        <span className="row json-buttons">
          {is_large && (
            <>
              <button type="button" className="button plain small-button" onClick={() => all(true)}>
                Unfold
              </button>
              <button type="button" className="button plain small-button" onClick={() => all(false)}>
                Fold
              </button>
            </>
          )}
          <Copy text={text} label={`Copy ${name}`} />
          <DownloadLink
            text={() => indented(text, root)}
            name={`${name}.json`}
            type="application/json"
            label={`Download ${name}`}
          />
        </span>
      </div>
      <Rows rows={rows} turn={turn} lit={lit} current={current} />
    </div>
  );
}

interface RowsProps {
  rows: readonly JsonRow[];
  turn(row: JsonRow): void;
  lit: ReadonlySet<JsonNode>;
  current: JsonNode | undefined;
}

function Rows({ rows, turn, lit, current }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const many = rows.length > VIRTUAL_OVER;
  const virtual = useVirtualizer({
    count: many ? rows.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => 22,
    overscan: 20,
  });
  useEffect(() => {
    if (current === undefined) return;
    const index = rows.findIndex(({ node }) => node === current);
    if (many) virtual.scrollToIndex(index, { align: "auto" });
    else box.current?.querySelectorAll(".json-row")[index]?.scrollIntoView({ block: "nearest" });
  }, [current, rows, many, virtual]);
  const shown = (row: JsonRow) => <Row row={row} turn={turn} lit={lit.has(row.node)} current={row.node === current} />;
  if (!many) {
    return (
      <div className="json-tree" ref={box}>
        {rows.map((row) => (
          <div key={row.node.from} className="json-row" style={{ paddingLeft: `${row.depth * 1.2}em` }}>
            {shown(row)}
          </div>
        ))}
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className="json-tree json-many" ref={box} tabIndex={0} aria-label="Value">
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index] as JsonRow;
          return (
            <div
              key={row.node.from}
              ref={virtual.measureElement}
              data-index={index}
              className="json-row json-placed"
              style={{ transform: `translateY(${start}px)`, paddingLeft: `${row.depth * 1.2}em` }}
            >
              {shown(row)}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function Row({ row, turn, lit, current }: { row: JsonRow; turn(row: JsonRow): void; lit: boolean; current: boolean }) {
  const { node, open } = row;
  const many = node.children.length;
  const size = `${many.toLocaleString("en-US")} ${node.kind === "array" ? "item" : "key"}${many === 1 ? "" : "s"}`;
  return (
    <span className={current ? "json-line json-current" : lit ? "json-line json-lit" : "json-line"}>
      {isBranch(node) && (
        <button
          type="button"
          className="json-fold"
          aria-expanded={open}
          onClick={() => turn(row)}
          aria-label={`${open ? "Fold" : "Unfold"} ${pathOf(node)}`}
        >
          {open ? "▾" : "▸"}
        </button>
      )}
      {node.key !== null && (
        <button
          type="button"
          className="json-key"
          title={`Copy the path ${pathOf(node)}`}
          onClick={async () => {
            const copied = await copyText(pathOf(node));
            announce(copied ? `Copied ${pathOf(node)}` : "The browser does not allow copying");
          }}
        >
          <Safe text={node.key} />:
        </button>
      )}{" "}
      {isBranch(node) ? <span className="muted">{size}</span> : <Scalar node={node} />}
    </span>
  );
}

function Scalar({ node }: { node: JsonNode }) {
  const [whole, setWhole] = useState(false);
  const { kind, says } = node;
  if (kind === "object" || kind === "array") return <span className="json-word">{kind === "array" ? "[]" : "{}"}</span>;
  if (kind !== "text") return <span className={kind === "number" ? "json-number" : "json-word"}>{says}</span>;
  const long = says.length > LONG_TEXT && !whole;
  return (
    <span className="json-text">
      "<Safe text={long ? says.slice(0, LONG_TEXT) : says} limit={200_000} />
      {long ? "" : '"'}
      {long && (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          … all {says.length.toLocaleString("en-US")} characters
        </button>
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

interface DownloadLinkProps {
  text: string | (() => string);
  name: string;
  type: string;
  label?: string;
}

export function DownloadLink({ text, name, type, label }: DownloadLinkProps) {
  return (
    <button
      type="button"
      className="button plain small-button"
      aria-label={label}
      onClick={() => download(typeof text === "function" ? text() : text, name, type)}
    >
      Download
    </button>
  );
}
