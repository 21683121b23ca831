// The browser of the tests: the system's Chromium, installed by name where it is missing and this run may. Where it cannot be had,
// browser tests are skipped with the reason in their name.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const patience_ms = 300_000;
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

let found: Promise<{ path: string } | { reason: string }> | null = null;

/** Where it is, or why there is none. */
export function findChromium(): Promise<{ path: string } | { reason: string }> {
  found ??= (async () => {
    const here = await chromiumPath();
    if (here !== null) return { path: here };
    const refusal = await install();
    const now = await chromiumPath();
    return now === null
      ? { reason: `there is no Chromium: ${refusal ?? "installing it did not help"}` }
      : { path: now };
  })();
  return found;
}

/** One that starts: on some systems the file of that name only says how to get a snap. */
async function chromiumPath(): Promise<string | null> {
  for (const path of places.filter((place) => existsSync(place))) {
    const starts = await run(path, ["--version"], { timeout: patience_ms }).catch(() => null);
    if (starts !== null) return path;
  }
  return null;
}

/** Gives why it was not done. */
async function install(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can install it (apt-get install chromium)";
  if (!existsSync("/usr/bin/apt-get")) return "this system has no apt-get";
  const lock = join(tmpdir(), "fanfold-tests-apt");
  for (let tries = 0; ; tries++) {
    if (
      await mkdir(lock).then(
        () => true,
        () => false,
      )
    )
      break;
    // Another process of this run installs it, or one that was killed meant to.
    if ((await chromiumPath()) !== null) return null;
    if (tries > patience_ms / 500) return `another run has been at it for minutes (if there is none, remove ${lock})`;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    const wanted = ["install", "-y", "-qq", "--no-install-recommends", "chromium"];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    try {
      await run("apt-get", wanted, { env, timeout: patience_ms });
    } catch {
      await run("apt-get", ["update", "-qq"], { env, timeout: patience_ms });
      await run("apt-get", wanted, { env, timeout: patience_ms });
    }
    return null;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message?: string };
    return `${stderr ?? ""}\n${message ?? error}`.trim().split("\n")[0]?.slice(0, 200) ?? "it failed";
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}
