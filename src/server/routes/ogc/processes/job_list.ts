// The list of jobs: first jobs, then requests, each newest first, filtered as the standard says. A page may be short and have a next one.
import type { QueryOf } from "../../../../core/api/endpoint.js";
import type { processes_api } from "../../../../core/api/ogc/processes.js";
import { max_problems, type Problem, quoted, suggestion } from "../../../../core/errors/problems.js";
import { type JobStatus, job_statuses } from "../../../../core/shown/statuses.js";
import { readDatetime, type Span } from "../../stac/datetime.js";
import { readLimit, refuse } from "../items_request.js";
import { inTurn, type OgcCall } from "../ogc_call.js";
import { recipe_prefix } from "./process.js";
import { ofListedJob, ofRequest, type Run, type Status, statuses, statusOf } from "./run.js";

type Query = QueryOf<typeof processes_api.jobs>;

interface Place {
  of: "jobs" | "requests";
  cursor: string | null;
}

interface Asked {
  limit: number;
  processes: string[] | null;
  statuses: Status[] | null;
  span: Span | undefined;
  min_s: number | null;
  max_s: number | null;
  place: Place;
}

export interface RunPage {
  runs: Run[];
  /** What the next page's address has as its token; null on the last. */
  token: string | null;
}

export async function listRuns(ogc: OgcCall, query: Query): Promise<RunPage> {
  const asked = readQuery(query);
  const types = asked.processes?.filter((id) => !id.startsWith(recipe_prefix)) ?? null;
  const recipes =
    asked.processes?.filter((id) => id.startsWith(recipe_prefix)).map((id) => id.slice(recipe_prefix.length)) ?? null;
  const { place } = asked;
  if (place.of === "jobs" && (types === null || types.length > 0)) {
    const { jobs, next } = await inTurn(ogc, () =>
      ogc.call.engine.jobs({
        limit: asked.limit,
        cursor: place.cursor,
        progress: true,
        ...(types === null ? {} : { type: types }),
        ...(asked.statuses === null ? {} : { status: ownStatuses(asked.statuses) }),
        ...(asked.span?.[0] == null ? {} : { created_after: asked.span[0] }),
        ...(asked.span?.[1] == null ? {} : { created_before: afterMoment(asked.span[1]) }),
      }),
    );
    const runs = jobs.map(ofListedJob).filter((run) => fits(run, asked));
    if (next !== null) return { runs, token: tokenOf({ of: "jobs", cursor: next }) };
    const goes_on = recipes === null || recipes.length > 0;
    return { runs, token: goes_on && (await hasRequests(ogc)) ? tokenOf({ of: "requests", cursor: null }) : null };
  }
  if (recipes?.length === 0) return { runs: [], token: null };
  const { requests, next } = await inTurn(ogc, () =>
    ogc.call.engine.requests.list({
      limit: asked.limit,
      ...(place.of === "requests" && place.cursor !== null ? { cursor: place.cursor } : {}),
      ...(recipes?.length === 1 ? { data_type: recipes[0]! } : {}),
      ...(asked.statuses === null ? {} : { status: requestStatuses(asked.statuses) }),
    }),
  );
  const runs = requests.map(ofRequest).filter((run) => fits(run, asked));
  return { runs, token: next === null ? null : tokenOf({ of: "requests", cursor: next }) };
}

async function hasRequests({ call }: OgcCall): Promise<boolean> {
  return (await call.engine.requests.list({ limit: 1 })).requests.length > 0;
}

function ownStatuses(wanted: Status[]): JobStatus[] {
  return job_statuses.filter((own) => wanted.includes(statusOf({ own_status: own } as Run)));
}

function requestStatuses(wanted: Status[]): string {
  const own = ["pending", "processing", "completed", "partial_success", "failed", "cancelled"] as const;
  return own.filter((one) => wanted.includes(statusOf({ own_status: one } as Run))).join(",");
}

function fits(run: Run, { processes, span, min_s, max_s }: Asked): boolean {
  if (processes !== null && !processes.includes(run.process_id)) return false;
  const created = Date.parse(run.created_at);
  if (span?.[0] != null && created < Date.parse(span[0])) return false;
  if (span?.[1] != null && created > Date.parse(span[1])) return false;
  if (min_s === null && max_s === null) return true;
  if (run.started_at === null) return false;
  const worked_s =
    ((run.finished_at === null ? Date.now() : Date.parse(run.finished_at)) - Date.parse(run.started_at)) / 1000;
  return (min_s === null || worked_s >= min_s) && (max_s === null || worked_s <= max_s);
}

/** The database's filter leaves out the moment itself; `fits` is exact. */
function afterMoment(moment: string): string {
  return new Date(Date.parse(moment) + 1000).toISOString();
}

function readQuery(query: Query): Asked {
  const problems: Problem[] = [];
  const asked: Asked = {
    limit: Math.min(readLimit(query.limit, problems, 50), 1000),
    processes: query.processID?.split(",").map((id) => id.trim()) ?? null,
    statuses: readStatuses(query.status, problems),
    span: query.datetime === undefined ? undefined : readDatetime(query.datetime, "query.datetime", problems),
    min_s: readSeconds(query.minDuration, "minDuration", problems),
    max_s: readSeconds(query.maxDuration, "maxDuration", problems),
    place: readToken(query.token, problems),
  };
  const types = query.type?.split(",").map((one) => one.trim()) ?? ["process"];
  for (const type of types)
    if (type !== "process")
      problems.push({
        path: "query.type",
        problem: `${quoted(type)} is no type of jobs`,
        fix: "All are of type process.",
      });
  if (asked.processes !== null && asked.processes.length > max_problems)
    problems.push({
      path: "query.processID",
      problem: `names more than ${max_problems} processes`,
      fix: "Name fewer.",
    });
  for (const id of asked.processes ?? [])
    if (!/^(recipe\.)?[a-z][a-z0-9_]{0,62}$/.test(id))
      problems.push({
        path: "query.processID",
        problem: `${quoted(id)} is no id of a process`,
        fix: "GET /ogc/processes lists them.",
      });
  refuse(problems);
  return asked;
}

function readStatuses(text: string | undefined, problems: Problem[]): Status[] | null {
  if (text === undefined) return null;
  const words = text.split(",").map((word) => word.trim());
  for (const word of words)
    if (!statuses.includes(word as Status))
      problems.push({ path: "query.status", problem: `${quoted(word)} is no status`, fix: suggestion(word, statuses) });
  return words as Status[];
}

function readSeconds(text: string | undefined, name: string, problems: Problem[]): number | null {
  if (text === undefined) return null;
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text)) return Number(text);
  problems.push({
    path: `query.${name}`,
    problem: `${quoted(text)} is no number of seconds`,
    fix: "Write it in digits.",
  });
  return null;
}

function tokenOf(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

function readToken(token: string | undefined, problems: Problem[]): Place {
  if (token === undefined) return { of: "jobs", cursor: null };
  try {
    const { of, cursor } = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as Place;
    const is_cursor = cursor === null || (typeof cursor === "string" && /^\d{1,20}-[0-9a-f]{32,64}$/.test(cursor));
    if ((of === "jobs" || of === "requests") && is_cursor) return { of, cursor };
  } catch {
    // Told below.
  }
  problems.push({
    path: "query.token",
    problem: "is not a token of this list",
    fix: "Take it from a `next` link, unchanged.",
  });
  return { of: "jobs", cursor: null };
}
