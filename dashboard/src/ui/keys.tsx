// Keys that do something on the page that is shown; `?` lists them.
import { useEffect, useRef, useState } from "react";
import { Dialog } from "./dialog.js";

interface Key {
  /** As KeyboardEvent.key has it; "g j" is one after the other. */
  keys: string;
  what: string;
  run(event: KeyboardEvent): void;
}

const registered = new Set<{ current: readonly Key[] }>();
let first: { key: string; at: number } | null = null;
const SECOND_KEY_MS = 1_200;

/** While the component is shown. Not while somebody writes, and never together with Ctrl, Alt or Meta. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    registered.add(latest);
    return () => void registered.delete(latest);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isWriting(event.target)) return;
  if (document.querySelector("dialog[open]") !== null) return;
  const all = [...registered].reverse().flatMap(({ current }) => current);
  const pair = first !== null && event.timeStamp - first.at < SECOND_KEY_MS ? `${first.key} ${event.key}` : null;
  const found = all.find(({ keys }) => keys === pair) ?? all.find(({ keys }) => keys === event.key);
  first = found === undefined ? { key: event.key, at: event.timeStamp } : null;
  if (found === undefined) return;
  event.preventDefault();
  found.run(event);
}

export function KeyHelp() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useKeys([{ keys: "?", what: "Show these keys", run: () => setShown(true) }]);
  if (!shown) return null;
  const listed = [...registered].reverse().flatMap(({ current }) => current);
  return (
    <Dialog title="Keys" onClose={() => setShown(false)}>
      <dl className="key-list">
        {listed.map(({ keys, what }) => (
          <div key={`${keys} ${what}`}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
