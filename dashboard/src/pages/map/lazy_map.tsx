// A map where the browser can draw one, loaded when it is first shown; where it cannot, a note that says so. Around it always stands a
// text that tells the same.
import { Component, lazy, type ReactNode, Suspense } from "react";
import type { GeoMapProps } from "./geo_map.js";

const GeoMap = lazy(() => import("./geo_map.js").then((module) => ({ default: module.GeoMap })));

let can_draw: boolean | null = null;

/** MapLibre needs WebGL 2. Asked once: each answer costs a context. */
export function canDraw(): boolean {
  if (can_draw === null) {
    const context = document.createElement("canvas").getContext("webgl2");
    can_draw = context !== null;
    context?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return can_draw;
}

export function LazyMap({ children, ...props }: GeoMapProps & { children?: ReactNode }) {
  return (
    <div className="map-frame">
      {canDraw() ? (
        <MapFence>
          <Suspense fallback={<p className="map-waits muted">The map is being loaded …</p>}>
            <GeoMap {...props} />
          </Suspense>
          {children}
        </MapFence>
      ) : (
        <NoMap why="This browser does not draw with WebGL 2." />
      )}
    </div>
  );
}

function NoMap({ why }: { why: string }) {
  return (
    <div className="map-none note warn" role="note">
      <p>
        <strong>The map cannot be drawn here.</strong> {why} All that it would show is in the list below.
      </p>
      <p className="muted">Try another browser, or turn on hardware acceleration in the settings of this one.</p>
    </div>
  );
}

/** A driver that gives up takes the map along, not the page. */
class MapFence extends Component<{ children: ReactNode }, { failed: string | null }> {
  override state: { failed: string | null } = { failed: null };
  static getDerivedStateFromError(error: unknown) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
  override render() {
    return this.state.failed === null ? this.props.children : <NoMap why={this.state.failed} />;
  }
}
