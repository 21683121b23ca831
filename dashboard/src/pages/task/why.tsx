// Why the task does not move, or ended as it did: the panel of the job's page, shown wherever something waits.
import { type ComponentType, lazy, Suspense } from "react";
import type { Task } from "./reading.js";

interface WhyPanelProps {
  task_id: string;
  enabled: boolean;
}

// Loaded with the page it belongs to: whoever never looks at a waiting task does not need it.
const files = import.meta.glob<{ WhyPanel: ComponentType<WhyPanelProps> }>("../job/why_panel.tsx");
const nothing: ComponentType<WhyPanelProps> = () => null;
const WhyPanel = lazy(async () => ({ default: (await files["../job/why_panel.tsx"]?.())?.WhyPanel ?? nothing }));

export function Why({ task }: { task: Task }) {
  if (task.status === "completed") return null;
  return (
    <Suspense fallback={null}>
      <WhyPanel key={`${task.task_id} ${task.status}`} task_id={task.task_id} enabled />
    </Suspense>
  );
}
