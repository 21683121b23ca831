// A release of before, as a program: its commit is taken out of the history, installed and built. FANFOLD_TEST_EARLIER names a folder where
// that was done already.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../cli/built_program.js";

const run = promisify(execFile);

/** The last commit of 0.5.1. */
const commit = "3bfb16a5";

/** Its folder, with its program in dist/. */
export async function earlierRelease(dir: string): Promise<string> {
  const built = process.env.FANFOLD_TEST_EARLIER;
  if (built) return built;
  const folder = join(dir, "earlier");
  await run("git", ["clone", "--quiet", "--no-checkout", root, folder]);
  await run("git", ["checkout", "--quiet", commit], { cwd: folder });
  const env = { ...process.env, npm_config_loglevel: "error" };
  await run("npm", ["ci"], { cwd: folder, env });
  await run("npm", ["run", "build"], { cwd: folder, env });
  if (!existsSync(join(folder, "dist", "cli", "main.js"))) throw new Error(`${commit} was not built`);
  return folder;
}

/** What both releases run: a wide stage and a fold, whose handlers write down what they do. `index` is the release's own. */
export function appOf(index: string): string {
  return `
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineHandler, defineJob } from ${JSON.stringify(index)};
const note = (...words) => appendFileSync(join(process.env.NEMESIS_DIR, \`effects-\${process.pid}\`), \`\${words.join(" ")}\\n\`);
const tasks = { count: "{parameters.n}", parameters: { name: "{parameters.name}", i: "{ordinal}", ms: "{parameters.ms}" } };
export default {
  jobs: [
    defineJob({
      type: "ledger",
      stages: [{ name: "items", task: "t.item", tasks }, { name: "sum", task: "t.sum", parallelism: "fan_in" }],
    }),
  ],
  handlers: [
    defineHandler("t.item", {}, async ({ name, i, ms }) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      note(name, i);
      return { value: i + 1 };
    }),
    defineHandler("t.sum", {}, async (_, ctx) => {
      let total = 0;
      for await (const { result } of ctx.previous) total += result.value;
      return { total };
    }),
  ],
};
`;
}
