// Inputs that are given by reference: a worker fetches them, through the guard that every outgoing call of the tenant passes. The service
// itself calls nobody.
import type { processes_api } from "../../../../core/api/ogc/processes.js";
import type { Problem } from "../../../../core/errors/problems.js";
import type { Call } from "../../../http/route.js";
import { taskEnded } from "../../../jobs/await_task.js";
import type { ExecuteRequest, Reference } from "./inputs.js";

const most_references = 20;
const patience_ms = 20_000;

export async function fetched(
  call: Call<typeof processes_api.execute>,
  { inputs, references }: ExecuteRequest,
  problems: Problem[],
): Promise<void> {
  if (references.length === 0) return;
  if (references.length > most_references) {
    problems.push({
      path: "inputs",
      problem: `${references.length} are given by reference; at most ${most_references}`,
      fix: "Give the others by value.",
    });
    return;
  }
  const { engine, place, signal, service } = call;
  const items = references.map(({ href }) => ({
    parameters: { url: href, redirects: 3, timeout_s: 15 },
    max_attempts: 1,
  }));
  const { task_ids } = await engine.enqueueMany("connector.http.request", items);
  place.wait();
  const until = Date.now() + patience_ms;
  for (const [at, reference] of references.entries()) {
    const task = await taskEnded(engine, task_ids[at]!, until, [signal, service.stopping]);
    if (task?.status === "completed") inputs[reference.input] = fetchedValue(task.result as Fetched, reference);
    else problems.push(unfetched(reference, task?.error?.message ?? null));
  }
}

interface Fetched {
  json?: unknown;
  text?: string;
}

function fetchedValue({ json, text }: Fetched, { takes_text }: Reference): unknown {
  if (text !== undefined) return text;
  return takes_text && typeof json !== "string" ? JSON.stringify(json) : json;
}

function unfetched({ input, href }: Reference, why: string | null): Problem {
  const problem =
    why === null ? "was not fetched in time: no worker that makes calls has done it" : `cannot be fetched: ${why}`;
  const host = URL.canParse(href) ? new URL(href).host : "it";
  return {
    path: `inputs.${input}.href`,
    problem,
    fix: `Give the value itself, or let ${host} be one of the addresses that the workers may call.`,
  };
}
