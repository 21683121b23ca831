// @ts-check
// The HTTP server as it is deployed.
import { openEngine, startServer } from "../../dist/index.js";
import { benchRegistry } from "./registry.js";

/** @type {{ stop(): Promise<void> }[]} */
const opened = [];

/** @param {{ database_url: string, storage_dir: string, connections?: number }} settings */
export async function open({ database_url, storage_dir, connections = 8 }) {
  const engine = await openEngine({ database_url, storage_dir, registry: benchRegistry(), connections });
  const server = await startServer({ engine, port: 0 });
  opened.push(server, { stop: () => engine.close() });
  return { url: server.url };
}

/** @param {{ what: string }} order */
export async function ask({ what }) {
  if (what !== "usage") return;
  const { user, system } = process.cpuUsage();
  return { cpu_ms: (user + system) / 1000, rss_mb: process.memoryUsage.rss() / 2 ** 20 };
}

export async function close() {
  for (const one of opened) await one.stop();
}
