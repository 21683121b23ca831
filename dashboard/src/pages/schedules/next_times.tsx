// The next times of a pattern: in the reader's zone, and in the schedule's where that is another.
import { Time } from "../../ui/index.js";

const own_zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function inZone(at: string, time_zone: string): string {
  try {
    return new Date(at).toLocaleString("en-GB", {
      timeZone: time_zone,
      weekday: "short",
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
  } catch {
    // A zone that this browser does not know.
    return at;
  }
}

interface NextTimesProps {
  times: readonly string[];
  time_zone: string;
  is_paused: boolean;
}

/** The first is shown, the others are behind it. */
export function NextTimes({ times, time_zone, is_paused }: NextTimesProps) {
  const [first] = times;
  if (first === undefined) return <span className="muted">{is_paused ? "paused" : "none"}</span>;
  return (
    <details className="next-times">
      <summary>
        <Time at={first} />
      </summary>
      <TimesTable times={times} time_zone={time_zone} />
    </details>
  );
}

export function TimesTable({ times, time_zone }: { times: readonly string[]; time_zone: string }) {
  const here = own_zone();
  const two = here !== time_zone;
  return (
    <table className="times-table">
      <thead>
        <tr>
          <th scope="col">Here ({here})</th>
          {two && <th scope="col">{time_zone}</th>}
        </tr>
      </thead>
      <tbody>
        {times.map((at) => (
          <tr key={at}>
            <td>{inZone(at, here)}</td>
            {two && <td>{inZone(at, time_zone)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
