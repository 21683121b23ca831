// The README is run, not believed: its commands exist, its job runs, its SQL is SQL.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { build, root, spawnFanfold } from "./cli/built_program.js";
import { freshDatabase } from "./postgres.js";

const readme = await readFile(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language, text]) => ({ language, text: text! }));
const block = (language: string, holding: string) =>
  blocks.find((found) => found.language === language && found.text.includes(holding))!.text;

beforeAll(build);

test("the two commands of the first screen are scripts of the package", async () => {
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const first_screen = readme.slice(0, 1800);
  for (const name of ["demo", "test"]) {
    expect(first_screen).toMatch(new RegExp(`^npm ci && npm (run )?${name}\\b`, "m"));
    expect(scripts[name]).toBeTypeOf("string");
  }
});

test("the job of the README runs as it stands", async () => {
  // Inside the package, so that the example's own import of "fanfold" means this checkout.
  const folder = await mkdtemp(join(root, "examples", "readme-"));
  try {
    await writeFile(join(folder, "fanfold.config.ts"), block("ts", "defineJob"));
    const command = /npx fanfold (submit word_lengths) words='(.*?)' (--wait)/.exec(block("sh", "word_lengths"))!;
    const argv = [...command[1]!.split(" "), `words=${command[2]}`, command[3]!, "--json"];
    const ended = await spawnFanfold(argv, { cwd: folder }).ended;
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(JSON.parse(ended.out)).toMatchObject({ status: "completed", job: { result: { total: 10 } } });
  } finally {
    await rm(folder, { recursive: true });
  }
}, 120_000);

test("every command the README names is known to the program", async () => {
  const named = new Set([...readme.matchAll(/npx fanfold (\w+)/g)].map(([, name]) => name!));
  const { out } = await spawnFanfold(["--help"]).ended;
  expect([...named].filter((name) => !new RegExp(`^  ${name}\\b`, "m").test(out))).toEqual([]);
  expect(named.size).toBeGreaterThan(5);
});

test("the service's commands run as they stand", async () => {
  const { url, drop } = await freshDatabase();
  const lines = [...block("sh", "tenants create").matchAll(/^npx fanfold (.*?)(?:\s+#.*)?$/gm)].map(
    ([, line]) => line!,
  );
  for (const line of lines) {
    const ended = await spawnFanfold([...line.split(" "), "--json"], { env: { DATABASE_URL: url } }).ended;
    expect([line, ended.code, ended.err]).toEqual([line, 0, ""]);
  }
  expect(lines).toHaveLength(2);
  await drop();
});

test("the SQL of the README runs as it stands", async () => {
  const { db, drop } = await freshDatabase();
  await db.script(block("sql", "app.enqueue"));
  expect(await db.sql`select count(*)::integer as tasks from app.tasks`).toEqual([{ tasks: 2 }]);
  await drop();
});
