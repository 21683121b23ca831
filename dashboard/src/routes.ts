// Addresses of the pages, and the query of the address as state: what a person sees can be sent to another by its link.
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { type JobTerms, noTerms } from "../../src/core/shown/job_filter.js";
import { formatJobFilter } from "../../src/core/shown/job_filter_text.js";

/** The path under which the server is reached, without a slash at its end. */
export const base_path = new URL(document.baseURI).pathname.replace(/\/$/, "");

export const job_tabs = ["overview", "tasks", "map", "timeline", "errors", "events", "parameters"] as const;
export type JobTab = (typeof job_tabs)[number];

export const layer_tabs = ["map", "columns", "versions", "rejects"] as const;
export type LayerTab = (typeof layer_tabs)[number];

export const request_tabs = ["overview", "review", "map", "events", "parameters"] as const;
export type RequestTab = (typeof request_tabs)[number];

type Query = Record<string, string | number | boolean | undefined>;

function address(parts: (string | undefined)[], query?: Query): string {
  const path = parts
    .filter((part) => part !== undefined && part !== "")
    .map((part) => encodeURIComponent(part as string));
  const text = queryText(query ?? {});
  return `/${path.join("/")}${text === "" ? "" : `?${text}`}`;
}

export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
}

export const to = {
  jobs: (query?: Query) => address(["jobs"], query),
  job: (job_id: string, tab?: JobTab, query?: Query) =>
    address(["jobs", job_id, tab === "overview" ? undefined : tab], query),
  task: (task_id: string) => address(["tasks", task_id]),
  tasks: (query?: Query) => address(["tasks"], query),
  groups: (group_id?: string, query?: Query) => address(["groups", group_id], query),
  requests: (query?: Query) => address(["requests"], query),
  request: (request_id: string, tab?: RequestTab) =>
    address(["requests", request_id, tab === "overview" ? undefined : tab]),
  ask: (query?: Query) => address(["requests", "new"], query),
  datasets: (query?: Query) => address(["datasets"], query),
  resource: (dataset_id: string, resource_id: string) =>
    address(["datasets", "resource"], { dataset: dataset_id, resource: resource_id }),
  connectors: () => address(["connectors"]),
  workers: () => address(["workers"]),
  queues: () => address(["queues"]),
  health: () => address(["health"]),
  schedules: (name?: string) => address(["schedules", name]),
  webhooks: (endpoint_id?: string, query?: Query) => address(["webhooks", endpoint_id], query),
  keys: () => address(["keys"]),
  limits: () => address(["limits"]),
  audit: (query?: Query) => address(["audit"], query),
  submit: (job_type?: string, query?: Query) => address(["submit", job_type], query),
  layers: (query?: Query) => address(["layers"], query),
  layer: (layer_id: string, tab?: LayerTab, query?: Query) =>
    address(["layers", layer_id, tab === "map" ? undefined : tab], query),
  catalog: (collection_id?: string, item_id?: string, query?: Query) =>
    address(["catalog", collection_id, item_id], query),
  signIn: (next?: string) => address(["sign-in"], { next }),
};

/** The filter of the list of jobs, as it is typed. */
export function filterOf(terms: Partial<JobTerms>): string {
  return formatJobFilter({ ...noTerms(), ...terms });
}

/** The values of the address' query; those equal to their default are left out of it. `replace` for what is typed. */
export function useQueryState<T extends Record<string, string>>(
  defaults: T,
): [T, (change: Partial<T>, how?: { replace?: boolean }) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const fixed = JSON.stringify(defaults);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search is another address
  const values = useMemo(() => {
    // The address itself: the router has decoded its text once already, and 100%41 would become 100A.
    const given = new URLSearchParams(window.location.search);
    const usual = JSON.parse(fixed) as T;
    return Object.fromEntries(Object.entries(usual).map(([key, value]) => [key, given.get(key) ?? value])) as T;
  }, [search, fixed]);
  const set = useCallback(
    (change: Partial<T>, { replace = false } = {}) => {
      const usual = JSON.parse(fixed) as T;
      // The address of this moment: two changes in one turn must not undo each other.
      const now = new URLSearchParams(window.location.search);
      for (const [key, value] of Object.entries(change)) {
        if (value === undefined || value === usual[key]) now.delete(key);
        else now.set(key, value as string);
      }
      const text = now.toString();
      navigate(`${path}${text === "" ? "" : `?${text}`}`, { replace });
    },
    [path, navigate, fixed],
  );
  return [values, set];
}
