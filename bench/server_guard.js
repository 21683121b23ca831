// @ts-check
// Owns the benchmark's Postgres: starts it, and stops it and removes its folder when told to or when the parent is gone,
// so that a benchmark killed in the middle leaves neither a server nor a folder behind. Started by server.js.
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";

const { postgres, data_dir, folder, log_path, settings, user } = JSON.parse(process.argv[2] ?? "{}");
const log = openSync(log_path, "a");
const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
const server = spawn(postgres, ["-D", data_dir, ...args], { ...user, cwd: folder, stdio: ["ignore", log, log] });
closeSync(log);

let stopping = false;
function stop() {
  if (stopping) return;
  stopping = true;
  // SIGINT is Postgres's fast shutdown; a server that still hangs after ten seconds is not worth its data.
  server.kill("SIGINT");
  setTimeout(() => server.kill("SIGQUIT"), 10_000).unref();
}

server.on("error", (error) => {
  process.send?.({ failed: error.message });
  leave(1);
});
server.on("exit", (code) => {
  if (!stopping) process.send?.({ failed: `postgres ended with code ${code}; see ${log_path}` });
  leave(stopping ? 0 : 1);
});

/** @param {number} code */
function leave(code) {
  if (stopping) rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}

process.on("message", (message) => {
  if (message === "stop") stop();
});
process.on("disconnect", stop);
process.on("SIGTERM", stop);
// Ctrl-C reaches the whole process group: the parent decides when the server goes.
process.on("SIGINT", () => {});
