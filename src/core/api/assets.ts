// Files that tasks made, over HTTP. Pure.
import { z } from "zod";
import { endpoint } from "./endpoint.js";
import { task_id } from "./fields.js";

export const assets_api = {
  download: endpoint({
    method: "GET",
    path: "/api/tasks/{task_id}/asset",
    tag: "tasks",
    summary: "Download the file that a task made",
    description: "The `asset` of the task's result: a report, for one. Always as an attachment, never shown in place.",
    scope: "read",
    params: z.strictObject({ task_id }),
    reply: z.unknown().describe("The bytes of the file"),
    media_type: "application/octet-stream",
    errors: [404],
  }),
};
