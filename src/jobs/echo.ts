// echo: gives back what it is given, one input of each kind, after a pause. Clients of OGC API Processes and its test suite try a service with it.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { echo_fields, longest_pause_s } from "../handlers/echo/echo.js";

export const echo = defineJob({
  type: "echo",
  description: "Gives back what it is given: for trying out a client",
  parameters: z.object({
    ...echo_fields,
    pause: z.number().min(0).max(longest_pause_s).optional().describe("Seconds to wait before it answers"),
  }),
  // So short that a caller may wait for it (docs/processes.md).
  deadline_s: 60,
  stages: [{ name: "echo", task: "echo.give", description: "What was given is given back" }],
});
