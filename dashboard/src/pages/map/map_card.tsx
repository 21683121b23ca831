// What lies under the pointer, beside it; what was clicked stays until it is closed.
import type { ReactNode } from "react";
import type { Hit } from "./shapes.js";

/** `onClose`: null while nothing is pinned. */
export function MapCard({ at, onClose, children }: { at: Hit; onClose: (() => void) | null; children: ReactNode }) {
  const place = { "--x": `${Math.round(at.x)}px`, "--y": `${Math.round(at.y)}px` } as Record<string, string>;
  return (
    <div className={onClose === null ? "map-card" : "map-card pinned"} style={place}>
      {onClose !== null && <CloseCard onClose={onClose} />}
      {children}
    </div>
  );
}

export function CloseCard({ onClose }: { onClose(): void }) {
  return (
    <button type="button" className="button icon small-button map-card-close" onClick={onClose}>
      <span aria-hidden="true">×</span>
      <span className="sr-only">Close</span>
    </button>
  );
}
