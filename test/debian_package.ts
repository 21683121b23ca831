// A Debian package that tests need: there already, or installed where that may be done (as root, within two minutes).
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** null when it is there, or is now; otherwise why not. */
export async function installed(debian_package: string, isThere: () => Promise<boolean>): Promise<string | null> {
  if (await isThere()) return null;
  if (process.getuid?.() !== 0) return `no ${debian_package}, and no right to install it`;
  // Another test file may be at it: apt's own lock is waited for.
  const apt = ["-y", "-qq", "-o", "DPkg::Lock::Timeout=100", "--no-install-recommends", "install", debian_package];
  // The run level keeps a package from starting a service of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  await run("apt-get", apt, { timeout: 120_000, env }).catch(() => {});
  return (await isThere()) ? null : `${debian_package} cannot be installed here`;
}

export function works(program: string, args: string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  );
}
