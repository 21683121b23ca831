// A status as shape, colour and word.
import { lookOf, type Shape } from "../status.js";

const paths: Record<Shape, string> = {
  circle: "M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12Z",
  ring: "M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12Zm0 2.4a3.6 3.6 0 1 0 0 7.2a3.6 3.6 0 0 0 0-7.2Z",
  half: "M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12Zm0 2v8a4 4 0 0 0 0-8Z",
  square: "M3 3h10v10H3Z",
  diamond: "M8 1l7 7l-7 7l-7-7Z",
  triangle: "M8 2l7 12H1Z",
  cross: "M3.8 2L8 6.2L12.2 2L14 3.8L9.8 8L14 12.2L12.2 14L8 9.8L3.8 14L2 12.2L6.2 8L2 3.8Z",
  dash: "M2 6.5h12v3H2Z",
  pause: "M3.5 2.5h3v11h-3Zm6 0h3v11h-3Z",
  retry: "M8 2a6 6 0 1 0 5.7 7.9h-2.6A3.6 3.6 0 1 1 8 4.4c1 0 1.9.4 2.5 1L8.4 7.5H14V1.9l-1.8 1.8A6 6 0 0 0 8 2Z",
};

export function ShapeIcon({ status, size = 14 }: { status: string; size?: number }) {
  const { shape, colour } = lookOf(status);
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" className="shape">
      <path d={paths[shape]} fill={`var(${colour})`} fillRule="evenodd" />
    </svg>
  );
}

export function StatusBadge({ status, label }: { status: string; label?: string }) {
  return (
    <span className="badge" data-status={status}>
      <ShapeIcon status={status} />
      {label ?? lookOf(status).label}
    </span>
  );
}

export interface BarPart {
  status: string;
  n: number;
}

interface StackedBarProps {
  parts: readonly BarPart[];
  total: number | null;
  label?: string;
}

/** Parts of a whole, in the order given; what has tasks is never too thin to be seen. */
export function StackedBar({ parts, total, label }: StackedBarProps) {
  const shown = parts.filter(({ n }) => n > 0);
  const sum = shown.reduce((all, { n }) => all + n, 0);
  const whole = Math.max(total ?? sum, sum, 1);
  const words = shown.map(({ status, n }) => `${n.toLocaleString("en-US")} ${lookOf(status).label}`).join(", ");
  return (
    <div
      className="bar"
      role="img"
      aria-label={`${label === undefined ? "" : `${label}: `}${words === "" ? "nothing yet" : words}`}
    >
      {shown.map(({ status, n }) => (
        <span
          key={status}
          className="bar-part"
          data-status={status}
          title={`${n.toLocaleString("en-US")} ${lookOf(status).label}`}
          style={{ flexGrow: n / whole, background: `var(${lookOf(status).colour})` }}
        />
      ))}
      {whole > sum && <span className="bar-rest" style={{ flexGrow: (whole - sum) / whole }} />}
    </div>
  );
}

interface SparklineProps {
  values: readonly number[];
  label: string;
  colour?: string;
  height?: number;
}

/** A small line of values, oldest first; the newest is named. */
export function Sparkline({ values, label, colour = "--accent", height = 28 }: SparklineProps) {
  const width = 120;
  const most = Math.max(...values, 1e-9);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      height={height}
    >
      <title>{label}</title>
      {points.length > 1 && (
        <>
          <polygon
            points={`0,${height} ${points.join(" ")} ${width},${height}`}
            fill={`var(${colour})`}
            opacity="0.15"
          />
          <polyline
            points={points.join(" ")}
            fill="none"
            stroke={`var(${colour})`}
            strokeWidth="1.5"
            vectorEffect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
