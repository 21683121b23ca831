// What a task was given and what it produced, as it is stored. What is large is downloaded instead of shown.
import { bytes } from "../../../../src/core/shown/figures.js";
import { urlOf } from "../../api/call.js";
import { Card, Json } from "../../ui/index.js";
import type { ReadTask, ValueName } from "./reading.js";

const titles: Record<ValueName, { title: string; none?: string }> = {
  parameters: { title: "Parameters", none: "It was given no parameters of its own." },
  result: { title: "Result" },
  next_stage_params: { title: "Handed to the next stage" },
  deliverables: { title: "Deliverables" },
  metadata: { title: "Metadata" },
};

export function Values({ read: { task, texts } }: { read: ReadTask }) {
  return (Object.keys(titles) as ValueName[]).map((name) => {
    const { title, none } = titles[name];
    const text = texts.get(name) ?? "null";
    const size = task.bytes[name];
    const spilled = name === "result" && task.spill !== null;
    const is_large = spilled || task.left_out.includes(name);
    const is_there = is_large || (size !== null && !(text === "null" && name !== "result"));
    if (!is_there && none === undefined) return null;
    return (
      <Card
        key={name}
        title={
          <>
            {title}
            {size !== null && size > 2000 && <span className="muted small"> · {bytes(size)}</span>}
          </>
        }
        className="task-value"
      >
        {!is_there ? (
          <p className="muted">{none}</p>
        ) : is_large ? (
          <p>
            This is {size === null ? "large" : bytes(size)}
            {spilled && " and lies in storage, not in the database"}.{" "}
            <a
              className="button plain small-button"
              href={urlOf("/api/tasks/{task_id}/value", { params: { task_id: task.task_id }, query: { of: name } })}
              download={`task-${task.task_id}-${name}.json`}
            >
              Download
            </a>
          </p>
        ) : (
          <Json text={text} name={`task-${task.task_id}-${name}`} />
        )}
      </Card>
    );
  });
}
