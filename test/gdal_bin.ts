// System GDAL for tests: the one that is there, or Debian's package where that can be installed (as root, within two minutes). Without it
// the tests that need it are skipped, and their names say so.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SystemGdal {
  available: boolean;
  /** For the names of tests that are skipped. */
  why_not: string;
}

let asked: Promise<SystemGdal> | undefined;

export function systemGdal(): Promise<SystemGdal> {
  asked ??= find();
  return asked;
}

async function find(): Promise<SystemGdal> {
  if (await isThere()) return { available: true, why_not: "" };
  if (process.getuid?.() !== 0) return { available: false, why_not: "no gdal-bin, and no right to install it" };
  // Another test file may be at it: apt's own lock is waited for.
  const apt = ["-y", "-qq", "-o", "DPkg::Lock::Timeout=100", "--no-install-recommends", "install", "gdal-bin"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", apt, { timeout: 120_000, env }).catch(() => {});
  const available = await isThere();
  return { available, why_not: available ? "" : "gdal-bin cannot be installed here" };
}

function isThere(): Promise<boolean> {
  return run("gdalinfo", ["--version"]).then(
    () => true,
    () => false,
  );
}
