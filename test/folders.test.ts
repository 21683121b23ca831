// Who may import whom, who may read the environment and who may write to the terminal: the table of ARCHITECTURE.md, kept
// true by reading every source file.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));

/** A folder (or a file directly in src/) may import from itself and from these. */
const may_import: Record<string, readonly string[]> = {
  core: [],
  geo: ["core"],
  storage: ["core", "geo"],
  catalog: ["core", "geo", "storage"],
  handlers: ["core", "geo", "storage", "catalog"],
  platform: ["core"],
  jobs: ["core", "geo", "storage", "catalog", "handlers", "platform"],
  client: ["core", "handler_processes.ts"],
  engine: ["core", "storage", "fault.ts"],
  worker: ["core", "storage", "engine", "config.ts", "fault.ts", "import_module.ts"],
  server: ["core", "geo", "storage", "catalog", "engine", "config.ts", "log.ts", "fault.ts"],
  cli: [
    "core",
    "geo",
    "storage",
    "catalog",
    "handlers",
    "jobs",
    "engine",
    "worker",

    "server",
    "client",
    "config.ts",
    "import_module.ts",
    "log.ts",
  ],
  "config.ts": ["core"],
  "handler_processes.ts": ["worker"],
  "import_module.ts": [],
  "log.ts": [],
  "fault.ts": ["config.ts"],
  "index.ts": [
    "core",
    "geo",
    "storage",
    "catalog",
    "handlers",
    "jobs",
    "engine",
    "worker",

    "server",
    "cli",
    "log.ts",
  ],
};

/** Pure folders compute: the clock, chance and the outside world are arguments. */
const pure = ["core", "geo"];
const pure_modules = new Set(["node:crypto", "zod", "croner", "h3-js"]);
const impure_code =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.|\bset(Timeout|Interval|Immediate)\(|\brandom(UUID|Bytes|Int)\b|\bfetch\(|\bprocess\./;

interface Source {
  path: string;
  /** The folder under src/, or the file itself where it is directly in src/. */
  place: string;
  code: string;
  imports: string[];
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(src, path), "utf8");
    const imports = [
      ...text.matchAll(
        /(?:^|[\s;}])(?:import|export)\s[^"';]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']|^import\s*["']([^"']+)["']/gm,
      ),
    ];
    return {
      path: path.replaceAll("\\", "/"),
      place: path.split(/[\\/]/)[0]!,
      code: withoutComments(text),
      imports: imports.map((match) => match[1] ?? match[2] ?? match[3]!),
    };
  });

/** Whole-line comments are enough: none of the words looked for stands behind code. */
function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
}

function placeOf(importer: Source, target: string): string {
  const path = relative(src, join(src, dirname(importer.path), target)).replaceAll("\\", "/");
  const [first = ""] = path.split("/");
  return path.includes("/") ? first : first.replace(/\.js$/, ".ts");
}

test("every folder imports only from those below it", () => {
  const wrong = sources.flatMap((source) =>
    source.imports
      .filter((target) => target.startsWith("."))
      .map((target) => placeOf(source, target))
      .filter((place) => place !== source.place && !may_import[source.place]?.includes(place))
      .map((place) => `${source.path} imports from ${place}`),
  );
  expect(wrong).toEqual([]);
});

test("the table knows every folder there is, and the sources are really read", () => {
  expect([...new Set(sources.map(({ place }) => place))].filter((place) => !(place in may_import))).toEqual([]);
  const engine = sources.filter(({ place }) => place === "engine");
  expect(engine.flatMap(({ imports }) => imports)).toEqual(
    expect.arrayContaining(["postgres", "@electric-sql/pglite", "../../fault.js"]),
  );
});

test("pure folders have no clock, no chance, no input and no output", () => {
  const wrong = sources
    .filter(({ place }) => pure.includes(place))
    .flatMap(({ path, code, imports }) => [
      ...imports
        .filter((name) => !name.startsWith(".") && !pure_modules.has(name))
        .map((name) => `${path} imports ${name}`),
      ...code
        .split("\n")
        .filter((line) => impure_code.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    ]);
  expect(wrong).toEqual([]);
});

test("only config.ts reads the environment", () => {
  const readers = sources.filter(({ code }) => /\bprocess\.env\b/.test(code)).map(({ path }) => path);
  expect(readers).toEqual(["config.ts"]);
});

test("only log.ts and the command line write to the terminal", () => {
  const writers = sources
    .filter(({ code }) => /\bprocess\.(stdout|stderr)\b|\bconsole\.|\bfd: [12]\b/.test(code))
    .filter(({ place }) => place !== "cli" && place !== "log.ts");
  expect(writers.map(({ path }) => path)).toEqual([]);
});

test("index.ts only hands on what others export", () => {
  const statements =
    sources
      .find(({ path }) => path === "index.ts")
      ?.code.split(";")
      .map((one) => one.trim()) ?? [];
  expect(statements.filter((one) => one !== "" && !/^export\s[^=]*\sfrom\s/.test(one))).toEqual([]);
});

const dashboard = fileURLToPath(new URL("../dashboard/src", import.meta.url));
test("no folder has more than 45 files of its own, and no file more than 400 lines", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const folders = new Map<string, number>();
  const long: string[] = [];
  for (const part of ["src", "db", "dashboard/src"]) {
    for (const path of readdirSync(join(root, part), { recursive: true, encoding: "utf8" })) {
      if (!/\.(tsx?|sql|css)$/.test(path)) continue;
      const file = join(part, path);
      folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
      const lines = readFileSync(join(root, file), "utf8").split("\n").length - 1;
      if (lines > 400) long.push(`${file}: ${lines} lines`);
    }
  }
  expect([...folders].filter(([, files]) => files > 45)).toEqual([]);
  expect(long).toEqual([]);
  expect(folders.size).toBeGreaterThan(50);
});

const pages = readdirSync(dashboard, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path: path.replaceAll("\\", "/"), code: readFileSync(join(dashboard, path), "utf8") }));

test("the dashboard takes only types, pure code and the reader of events from the rest", () => {
  const allowed = /\/src\/((?:core\/(?!api\/)|geo\/)[\w/]+|client\/sse)\.js$/;
  const wrong = pages.flatMap(({ path, code }) =>
    [
      ...code.matchAll(
        /^(?:import|export)\s(?!type\b)[^"';]*?from\s*"([^"]*\/src\/(?:core|client|server|engine|worker|geo|cli)\/[^"]+)"/gm,
      ),
    ]
      .filter(([, target]) => !allowed.test(target!))
      .map(([, target]) => `${path} imports ${target}`),
  );
  expect(wrong).toEqual([]);
  expect(pages.length).toBeGreaterThan(20);
});

test("the dashboard makes no HTML or code out of text", () => {
  const forbidden =
    /dangerouslySetInnerHTML|\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|javascript:/;
  expect(pages.filter(({ code }) => forbidden.test(code)).map(({ path }) => path)).toEqual([]);
});
