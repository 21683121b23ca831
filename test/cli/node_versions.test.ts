// The built program on the newer Nodes that are in use: a job of a TypeScript module, one handler in the worker and one in a process of
// its own, on the embedded database. Node's binaries come from npm; where they cannot be had, that is said and the tests are left out.
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { madeOnce } from "../made_once.js";
import { build, root } from "./built_program.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  await build();
  folder = await mkdtemp(join(tmpdir(), "fanfold-nodes-"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(
    join(folder, "words.ts"),
    "export enum Case { upper, lower }\nexport const loud = (word: string) => word.toUpperCase();\n",
  );
  await writeFile(join(folder, "fanfold.config.ts"), app);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const app = `
import { defineHandler, defineJob } from ${JSON.stringify(`${root}dist/index.js`)};
import { z } from "zod";
import { Case, loud } from "./words.js";

interface Greeting { text: string; node: string; pid: number }
const parameters = z.object({ name: z.string() });
const own = { parameters, isolation: "process", module: import.meta.url } as const;
const say = defineHandler("words.say", { parameters }, ({ name }): Greeting => {
  return { text: Case[Case.upper] + loud(name), node: process.version, pid: process.pid };
});
const sayAlone = defineHandler("words.say_alone", own, ({ name }): Greeting => {
  return { text: loud(name), node: process.version, pid: process.pid };
});
const tell = defineHandler("words.tell", {}, async (_, ctx) => {
  const greetings: Greeting[] = [];
  for await (const { result } of ctx.previous) greetings.push(result as Greeting);
  return { greetings };
});
const greet = defineJob({
  type: "greet",
  parameters,
  stages: [
    { name: "say", task: "words.say" },
    { name: "alone", task: "words.say_alone" },
    { name: "told", task: "words.tell", parallelism: "fan_in" },
  ],
});
export default { jobs: [greet], handlers: [say, sayAlone, tell] };
`;

/** Or why there is none. */
async function nodeOf(major: number): Promise<string | Error> {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  try {
    const made = await madeOnce(`node-${major}`, (to) => {
      const quiet = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel", "error"];
      return run("npm", ["install", ...quiet, "--prefix", to, `${name}@${major}`], {
        shell: process.platform === "win32",
      });
    });
    return join(made, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  } catch (error) {
    return error as Error;
  }
}

describe.each([22, 24])("on Node %s", (major) => {
  test("a TypeScript module is taken as it is, by the worker and by a process of its own", async ({ skip }) => {
    const node = await nodeOf(major);
    if (node instanceof Error) {
      process.stderr.write(`no Node ${major} to be had, its test is left out: ${node.message.split("\n").at(-1)}\n`);
      return skip();
    }
    const { DATABASE_URL: _, ...env } = process.env;
    const argv = [
      join(root, "dist", "cli", "main.js"),
      "submit",
      "greet",
      "name=ada",
      "--wait",
      "--json",
      "--data-dir",
      `data-${major}`,
    ];
    const ended = await run(node, argv, { cwd: folder, env }).catch((failed) => failed);
    expect([ended.code ?? 0, ended.stderr]).toEqual([0, ""]);
    const { job } = JSON.parse(ended.stdout);
    const { greetings } = job.result;
    expect(greetings).toEqual([{ text: "ADA", node: expect.stringContaining(`v${major}.`), pid: expect.any(Number) }]);
  });
});
