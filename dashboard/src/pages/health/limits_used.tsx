// How much of what this tenant may use is used.
import { Link } from "wouter";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { Card, FirstRead } from "../../ui/index.js";
import { Meter } from "../workers/meter.js";

export function LimitsUsed() {
  const { data, error } = useGet("limits.own", {}, { every_ms: 10_000 });
  return (
    <Card title="Limits of this tenant" actions={<Link href={to.limits()}>All limits</Link>}>
      <FirstRead data={data} error={error} title="The limits could not be read" lines={2} />
      {data !== undefined && (
        <div className="stack limits-used">
          <Used label="Running" value={data.usage.concurrent_tasks} most={data.limits.concurrent_tasks} />
          <Used label="Waiting" value={data.usage.queued_tasks} most={data.limits.queued_tasks} />
        </div>
      )}
    </Card>
  );
}

function Used({ label, value, most }: { label: string; value: number; most: number | null }) {
  if (most !== null) return <Meter tight label={label} value={value} most={most} unit=" tasks" />;
  return (
    <div className="meter-line">
      <span className="meter-label">{label}</span>
      <span className="meter-figures wide">
        {value.toLocaleString("en-US")} {value === 1 ? "task" : "tasks"} <span className="muted">· no limit</span>
      </span>
    </div>
  );
}
