// Why the task does not move, or ended as it did: the panel of the job's page, shown wherever something waits.
import { WhyPanel } from "../job/why_panel.js";
import "../job/job.css";
import type { Task } from "./reading.js";

export function Why({ task: { task_id, status } }: { task: Task }) {
  if (status === "completed") return null;
  return <WhyPanel key={`${task_id} ${status}`} task_id={task_id} />;
}
