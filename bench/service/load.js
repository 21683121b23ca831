// @ts-check
// Whoever calls the service: many callers at once on connections that stay open, or the client that we ship.
import http from "node:http";
import { createClient } from "../../dist/client/index.js";

const agent = new http.Agent({ keepAlive: true, maxSockets: 1024 });

export async function open() {}

/** @param {any} order */
export async function ask(order) {
  if (order.what === "calls") return calls(order);
  if (order.what === "client") return byClient(order);
}

/** Each caller sends the next call when the last one was answered.
 * @param {{ url: string, path: string, headers: Record<string, string>, body: string, from: number, n: number, callers: number, expect: number }} order */
async function calls({ url, path, headers, body, from, n, callers, expect }) {
  const { hostname, port } = new URL(url);
  const latencies = new Float64Array(n);
  let next = 0;
  const caller = async () => {
    while (next < n) {
      const i = next++;
      const began = performance.now();
      const status = await post({ hostname, port, path, headers }, body.replace('"#"', String(from + i)));
      if (status !== expect) throw new Error(`call ${i} was answered with ${status}`);
      latencies[i] = performance.now() - began;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const ms = performance.now() - began;
  latencies.sort();
  const at = (/** @type {number} */ share) => latencies[Math.max(0, Math.ceil(share * n) - 1)];
  return { per_s: n / (ms / 1000), p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) };
}

/** @param {{ hostname: string, port: string, path: string, headers: Record<string, string> }} to @param {string} body
 * @returns {Promise<number>} */
function post({ hostname, port, path, headers }, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        hostname,
        port,
        path,
        agent,
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
        response.once("error", reject);
      },
    );
    request.once("error", reject);
    request.end(body);
  });
}

/** @param {{ url: string, key: string, verb: "submitMany" | "enqueueMany", type: string, from: number, n: number }} order */
async function byClient({ url, key, verb, type, from, n }) {
  const client = createClient({ url, key });
  const items = Array.from({ length: n }, (_, i) => ({ parameters: { i: from + i } }));
  const began = performance.now();
  await client[verb](type, items);
  return { per_s: n / ((performance.now() - began) / 1000) };
}

export async function close() {
  agent.destroy();
}
