// So much of so much: a bar with its figures beside it.
import { Count } from "../../ui/index.js";
import "./meter.css";

interface MeterProps {
  label: string;
  value: number;
  most: number;
  unit?: string;
  /** Beside the figures. */
  more?: string | undefined;
  /** To be full is a warning. */
  tight?: boolean;
}

export function Meter({ label, value, most, unit = "", more, tight = false }: MeterProps) {
  const share = most === 0 ? 0 : Math.min(1, value / most);
  const words = `${value.toLocaleString("en-US")} of ${most.toLocaleString("en-US")}${unit}`;
  return (
    <div className="meter-line">
      <span className="meter-label">{label}</span>
      <span className="meter" role="img" aria-label={`${label}: ${words}`}>
        <span
          className={tight && share >= 0.95 ? "meter-fill full" : "meter-fill"}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span className="meter-figures">
        <Count n={value} /> of <Count n={most} />
        {unit}
        {more !== undefined && <span className="muted"> {more}</span>}
      </span>
    </div>
  );
}
