// What fanfold doctor finds, from the server's own point of view.

import { asCommand } from "../../../../src/core/shown/action.js";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { Button, Card, CommandLine, ProblemNote, Safe, ShapeIcon, Skeleton } from "../../ui/index.js";
import { type CheckResult, worstFirst } from "./health_words.js";

export function Checks() {
  const forbidden = useForbidden("admin");
  const { data, error, refetch, isFetching } = useGet(
    "health.preflight",
    {},
    { every_ms: 30_000, enabled: forbidden === null },
  );
  const wrong = data?.findings.filter(({ level }) => level !== "ok").length ?? 0;
  return (
    <Card
      title="Checks"
      actions={
        <Button className="small-button" forbidden={forbidden} busy={isFetching} onClick={() => void refetch()}>
          Check again
        </Button>
      }
    >
      {forbidden !== null && <p className="muted">{forbidden}</p>}
      <ProblemNote error={error} title="The checks could not be made" />
      {data === undefined && error === null && forbidden === null && <Skeleton lines={4} />}
      {data !== undefined && (
        <>
          <p className="muted">
            {wrong === 0
              ? `All ${data.findings.length} are well.`
              : `${wrong} of ${data.findings.length} ${wrong === 1 ? "needs" : "need"} a look.`}
          </p>
          <ul className="checks">
            {worstFirst(data.findings).map((finding) => (
              <Check key={finding.name} finding={finding} />
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

const words = { ok: "Well", warn: "Look at this", fail: "Wrong" };

function Check({ finding: { name, level, message, fix, action } }: { finding: CheckResult }) {
  return (
    <li data-level={level}>
      <ShapeIcon status={level} />
      <div className="grow">
        <span className="sr-only">{words[level]}: </span>
        <strong>{name}</strong> <Safe text={message} />
        {fix !== undefined &&
          (action === undefined ? (
            <p className="muted small">
              <Safe text={fix} />
            </p>
          ) : (
            <CommandLine text={asCommand(action)} />
          ))}
      </div>
    </li>
  );
}
