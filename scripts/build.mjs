// Builds dist/ from nothing, because a module that was removed must not live on in the package. With --stale it builds only the parts
// whose sources differ from those of their last build, as dist/.built.json remembers them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const stamp = join(dist, ".built.json");

/** In the order in which they need each other. */
const parts = [
  {
    name: "program",
    sources: ["src", "tsconfig.json", "tsconfig.build.json", "package-lock.json"],
    build() {
      for (const name of readdirSync(dist)) {
        if (!["dashboard", "template", ".built.json"].includes(name)) rmSync(join(dist, name), { recursive: true });
      }
      const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
      const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
        stdio: "inherit",
      });
      if (status !== 0) process.exit(status ?? 1);
      chmodSync(join(dist, "cli", "main.js"), 0o755);
    },
  },
  {
    name: "dashboard",
    sources: ["dashboard", "src/client", "src/core", "src/geo", "package-lock.json"],
    async build() {
      const { build } = await import("vite");
      await build({ configFile: join(root, "dashboard", "vite.config.ts"), logLevel: "warn" });
    },
  },
  {
    name: "template",
    sources: ["db", "package-lock.json"],
    async build() {
      const made_by = join(dist, "engine", "database", "embedded_template.js");
      const { writeTemplate } = await import(pathToFileURL(made_by).href);
      await writeTemplate();
    },
  },
];

/** Returns a hash of the names and contents of all files; their times change with every checkout and say nothing. */
function hashOf(sources) {
  const hash = createHash("sha256");
  for (const source of sources) {
    const path = join(root, source);
    const files = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).sort() : [""];
    for (const name of files) {
      const file = join(path, name);
      if (statSync(file).isFile()) hash.update(`${source}/${name}\0`).update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

const stale_only = process.argv.includes("--stale");
if (!stale_only) rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const built = existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {};
for (const { name, sources, build } of parts) {
  const hash = hashOf(sources);
  if (built[name] === hash) continue;
  if (stale_only) process.stderr.write(`building the ${name}\n`);
  await build();
  built[name] = hash;
  writeFileSync(stamp, JSON.stringify(built));
}
