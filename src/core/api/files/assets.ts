// Files that tasks made, over HTTP. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { task_id } from "../fields.js";

const endpoint = endpointsOf({ tag: "tasks", scope: "read", params: { task_id } });

export const assets_api = {
  download: endpoint("GET /api/tasks/{task_id}/asset", {
    summary: "Download the file that a task made",
    description: "The `asset` of the task's result: a report, for one. Always as an attachment, never shown in place.",
    reply: z.unknown().describe("The bytes of the file"),
    media_type: "application/octet-stream",
    errors: [404],
  }),
};
