// @ts-check
// A peer of our server from PyPI, in an environment of its own below bench/python, and what a process and all below it took of the processors.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../postgres_binaries.js";

const HERE = fileURLToPath(new URL("../python", import.meta.url));
const tick_ms = 10;

/** Process id of the run's Postgres. @param {import("./place.js").Place} place */
export async function postmaster({ server }) {
  const [row] = await server.admin`select setting from pg_settings where name = 'data_directory'`;
  return Number(readFileSync(join(String(row?.setting), "postmaster.pid"), "utf8").split("\n")[0]);
}

/** What a process took, with its children and those of them that ended. @param {number} pid */
export function cpuOfTree(pid) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)));
  return all
    .filter((one) => one !== null && (one.pid === pid || one.parent === pid))
    .reduce((sum, one) => sum + (one?.cpu_ms ?? 0), 0);
}

/** @param {number} pid */
function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ").map(Number) ?? [];
    const [user = 0, system = 0, children_user = 0, children_system = 0] = fields.slice(11, 15);
    return { pid, parent: fields[1], cpu_ms: (user + system + children_user + children_system) * tick_ms };
  } catch {
    return null;
  }
}

/** Null, with a word of it, where it cannot be had.
 * @param {{ name: string, requirements: string, app: string, ready: string, env: Record<string, string>, say: (line: string) => void }} peer */
export async function startPeer({ name, requirements, app, ready, env, say }) {
  const venv = join(HERE, `.venv-${name}`);
  const python = join(venv, "bin", "python");
  try {
    if (!existsSync(join(venv, "ready"))) {
      say(`installing ${name} from PyPI`);
      execFileSync("python3", ["-m", "venv", venv], { stdio: ["ignore", 2, 2] });
      execFileSync(python, ["-m", "pip", "install", "-q", "-r", join(HERE, requirements)], {
        stdio: ["ignore", 2, 2],
      });
      writeFileSync(join(venv, "ready"), "");
    }
  } catch (error) {
    say(`no ${name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
    return null;
  }
  const port = await freePort();
  const args = ["-m", "uvicorn", app, "--port", String(port), "--host", "127.0.0.1", "--log-level", "warning"];
  const child = spawn(python, args, {
    cwd: HERE,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: HERE, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 600; tries++) {
    const is_up = await fetch(`${url}${ready}`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (is_up) return { url, pid: Number(child.pid), stop: kill };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  kill();
  throw new Error(`${name} does not answer`);
}
