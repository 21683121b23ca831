// Said to screen readers when it is convenient.
import { useSyncExternalStore } from "react";

let said = "";
const listeners = new Set<() => void>();

export function announce(text: string): void {
  // The same words twice are two announcements.
  said = said === text ? `${text}\u00a0` : text;
  for (const listener of listeners) listener();
}

export function Announcer() {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
  return (
    <div className="sr-only" aria-live="polite" role="status">
      {text}
    </div>
  );
}
