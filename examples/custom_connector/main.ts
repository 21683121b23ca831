// The connector at work: configured for a tenant, with a secret that only the worker knows, and a service that is busy at first.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRegistry, defineJob, openEngine, startWorker } from "fanfold";
import { z } from "zod";
import { type Forecast, forecast } from "./connector.ts";

const forecasts = defineJob({
  type: "forecasts",
  parameters: z.object({ cities: z.array(z.string()) }),
  stages: [
    {
      name: "ask",
      task: "connector.weather.forecast",
      tasks: { each: "$.cities[*]", index: "{item}", parameters: { city: "{item}", config: "default" } },
    },
  ],
});

// The service: it wants a key, and asks the first caller to come back later.
const answered: number[] = [];
const weather = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? "/", "http://weather");
  const status = request.headers["x-api-key"] !== "s3cret-key" ? 401 : answered.length === 0 ? 429 : 200;
  answered.push(status);
  response.writeHead(status, { "content-type": "application/json", ...(status === 429 ? { "retry-after": "1" } : {}) });
  response.end(JSON.stringify({ degrees: (searchParams.get("city") ?? "").length * 3 }));
});
weather.listen(0, "127.0.0.1");
await once(weather, "listening");
const { port } = weather.address() as AddressInfo;

const engine = await openEngine({
  registry: createRegistry({ jobs: [forecasts], handlers: [forecast] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
});
const worker = await startWorker(engine, {
  // From a vault, the environment or a file; it is put in at the last moment and never stored or logged.
  secrets: (_tenant, name) => (name === "weather_key" ? "s3cret-key" : null),
  // Only public addresses over TLS may be called, unless whoever runs the worker says otherwise.
  outbound: { allow_http: true, allow_private: [`127.0.0.1:${port}`] },
});

try {
  await engine.connectors.set("weather.forecast", "default", {
    base_url: `http://127.0.0.1:${port}`,
    headers: { "x-api-key": "secret://weather_key" },
    limits: { max_concurrent: 1 },
  });
  const { job_id } = await engine.submit(forecasts, { cities: ["Bern", "Zug"] });
  const { status } = await engine.wait(job_id);
  console.log(`job ${status}`);
  for (const { task_id } of (await engine.tasks({ job_id })).tasks) {
    const { city, degrees, units } = (await engine.task(task_id)).result as Forecast;
    console.log(`${city}: ${degrees} ${units}`);
  }
  console.log(`the service answered: ${[...new Set(answered)].sort().join(", ")}`);
} finally {
  await worker.stop();
  await engine.close();
  weather.close();
}
