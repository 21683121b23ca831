// @ts-check
// The parent's side of a child: start, call, count what ran, and make sure that none outlives the run.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("child.js", import.meta.url));
/** @type {Set<import("node:child_process").ChildProcess>} */
const living = new Set();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/**
 * @typedef {object} Child
 * @property {(verb: string, args?: object) => Promise<{ value: any, ms: number }>} call
 * @property {() => number} ran how many handlers have run since the process started
 * @property {(listener: () => void) => void} on_progress
 * @property {(listener: (lag_ms: number) => void) => void} on_start
 * @property {() => Promise<void>} stop
 */

/** @param {string} contender @param {string} url @returns {Child} */
export function startChild(contender, url) {
  const child = fork(CHILD, [contender, url], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  living.add(child);
  /** @type {Map<number, { resolve: (reply: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let next_id = 1;
  let ran = 0;
  let said = "";
  let on_progress = () => {};
  let on_start = (/** @type {number} */ _lag) => {};

  child.stderr?.on("data", (text) => {
    said = (said + text).slice(-4000);
  });
  child.on("message", (/** @type {any} */ message) => {
    if (message.id === undefined) {
      ran = message.ran;
      for (const lag of message.lags) on_start(lag);
      on_progress();
      return;
    }
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) caller?.reject(new Error(`${contender}: ${message.error}${said && `\n${said}`}`));
    else caller?.resolve({ value: message.value, ms: message.ms });
  });
  const gone = new Promise((resolve) => {
    child.once("exit", (code) => {
      living.delete(child);
      const error = new Error(`${contender}: its process ended with code ${code}${said && `\n${said}`}`);
      for (const caller of waiting.values()) caller.reject(error);
      waiting.clear();
      resolve(undefined);
    });
  });

  /** @param {string} verb @param {object} [args] @returns {Promise<{ value: any, ms: number }>} */
  function call(verb, args = {}) {
    return new Promise((resolve, reject) => {
      if (!child.connected) return reject(new Error(`${contender}: its process is gone${said && `\n${said}`}`));
      const id = next_id++;
      waiting.set(id, { resolve, reject });
      child.send({ id, verb, args });
    });
  }

  return {
    call,
    ran: () => ran,
    on_progress: (listener) => {
      on_progress = listener;
    },
    on_start: (listener) => {
      on_start = listener;
    },
    async stop() {
      const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await call("close").catch(() => {});
      await gone;
      clearTimeout(kill);
    },
  };
}
