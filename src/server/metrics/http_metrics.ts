// What this process measures of itself: requests by route, the event loop, connections, memory. A route is its pattern, so that
// no caller can make new ones.
import { type EventLoopUtilization, type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { package_version } from "../../config.js";
import { Family } from "./exposition.js";

const bounds_s = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const known_methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);

interface RouteCounts {
  method: string;
  route: string;
  by_status: Map<number, number>;
  durations: number[];
  duration_s: number;
}

export class HttpMetrics {
  readonly #routes = new Map<string, RouteCounts>();
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: 20 });
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();
  #in_flight = 0;
  #connections = 0;

  constructor(app: FastifyInstance) {
    this.#loop.enable();
    app.server.on("connection", (socket) => {
      this.#connections++;
      socket.once("close", () => this.#connections--);
    });
    const open = new WeakSet<FastifyRequest>();
    const ended = (request: FastifyRequest) => {
      if (open.delete(request)) this.#in_flight--;
    };
    app.addHook("onRequest", (request, _, done) => {
      open.add(request);
      this.#in_flight++;
      done();
    });
    app.addHook("onResponse", (request, reply, done) => {
      ended(request);
      this.#count(request, reply.statusCode, reply.elapsedTime / 1000);
      done();
    });
    app.addHook("onRequestAbort", (request, done) => {
      ended(request);
      done();
    });
    app.addHook("onClose", (_, done) => {
      this.#loop.disable();
      done();
    });
  }

  #count(request: FastifyRequest, status: number, seconds: number): void {
    const route = routeOf(request);
    const method = known_methods.has(request.method) ? request.method : "other";
    const key = `${method} ${route}`;
    let counts = this.#routes.get(key);
    if (counts === undefined) {
      counts = { method, route, by_status: new Map(), durations: [...bounds_s, 0].fill(0), duration_s: 0 };
      this.#routes.set(key, counts);
    }
    counts.by_status.set(status, (counts.by_status.get(status) ?? 0) + 1);
    let at = 0;
    while (at < bounds_s.length && seconds > bounds_s[at]!) at++;
    counts.durations[at]!++;
    counts.duration_s += seconds;
  }

  families(): Family[] {
    const requests = new Family("fanfold_http_requests_total", "counter", "Requests answered, by route and status.");
    const durations = new Family("fanfold_http_request_duration_seconds", "histogram", "Time to answer a request.");
    for (const { method, route, by_status, durations: counts, duration_s } of this.#routes.values()) {
      for (const [status, count] of by_status) requests.sample(count, { method, route, status: String(status) });
      durations.histogram(bounds_s, counts, duration_s, { method, route });
    }
    return [
      new Family("fanfold_build_info", "gauge", "Always 1; the version is in the label.").sample(1, {
        version: package_version,
      }),
      requests,
      durations,
      gauge("fanfold_http_requests_in_flight", "Requests that have not been answered yet.", this.#in_flight),
      gauge("fanfold_http_connections", "Open connections to the server.", this.#connections),
      ...this.#process(),
    ];
  }

  #process(): Family[] {
    const ns = (value: number) => (Number.isFinite(value) ? Math.max(0, value / 1e9) : 0);
    const lag = new Family(
      "fanfold_event_loop_lag_seconds",
      "gauge",
      "Time between two turns of the event loop since the last scrape (20 ms when it has nothing to do).",
    )
      .sample(ns(this.#loop.mean), { stat: "mean" })
      .sample(ns(this.#loop.percentile(99)), { stat: "p99" })
      .sample(ns(this.#loop.max), { stat: "max" });
    this.#loop.reset();
    const utilization = performance.eventLoopUtilization(this.#utilization);
    this.#utilization = performance.eventLoopUtilization();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return [
      lag,
      gauge("fanfold_event_loop_busy_ratio", "Share of time the event loop was busy.", utilization.utilization),
      gauge("process_resident_memory_bytes", "Memory of this process.", rss),
      gauge("nodejs_heap_size_used_bytes", "Memory of JavaScript objects.", heapUsed),
      new Family("process_cpu_seconds_total", "counter", "Processor time of this process.").sample(
        (user + system) / 1e6,
      ),
      gauge("process_start_time_seconds", "When this process started.", performance.timeOrigin / 1000),
    ];
  }
}

/** The pattern, with braces as in the contract; what matches none is one route. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url?.replaceAll(/:(\w+)/g, "{$1}") ?? "none";
}

function gauge(name: string, help: string, value: number): Family {
  return new Family(name, "gauge", help).sample(value);
}
