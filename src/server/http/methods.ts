// Which methods a path takes, for a caller who used another.
import { FanfoldError } from "../../core/errors/errors.js";
import type { Route } from "./route.js";

export class MethodNotAllowed extends FanfoldError {
  override readonly http_status = 405;
  override readonly code = "method_not_allowed";

  constructor(method: string, allowed: readonly string[], path = "") {
    const job = method === "DELETE" ? /^\/api\/jobs\/([0-9a-f]{4,64})$/.exec(path)?.[1] : undefined;
    const instead = job === undefined ? "" : `; a job is not deleted but cancelled: POST /api/jobs/${job}/cancel`;
    super("bad_request", `this path does not take ${method}`, { hint: `it takes ${allowed.join(", ")}${instead}` });
  }
}

export class AllowedMethods {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  constructor(routes: readonly Route[]) {
    for (const { endpoint } of routes) {
      const known = this.#paths.get(endpoint.path) ?? { pattern: patternOf(endpoint.path), methods: new Set<string>() };
      known.methods.add(endpoint.method);
      if (endpoint.method === "GET") known.methods.add("HEAD");
      this.#paths.set(endpoint.path, known);
    }
  }

  /** None where there is no such path at all. */
  of(url: string): string[] {
    const path = pathOf(url);
    if (path.length > 2000) return [];
    const found = [...this.#paths.values()].filter(({ pattern }) => pattern.test(path));
    return [...((this.#paths.get(path) ?? found[0])?.methods ?? [])].sort();
  }

  /** A path that is written out is that path, as OpenAPI has it, also for methods that only one with a name in its place takes. */
  isHidden(url: string, route: string): boolean {
    return route.includes(":") && this.#paths.has(pathOf(url));
  }
}

function pathOf(url: string): string {
  return url.split("?")[0]?.replace(/\/$/, "") ?? "";
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}
