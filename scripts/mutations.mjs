// Do the tests notice? Takes one guard out of a scratch copy of the repository at a time, and runs the tests that should turn
// red. The guards are those that "exactly once" stands on: the claim check of a finish, the lock and the guard of a stage's
// ledger, and the second look of the janitor. Prints which tests failed for each; exits 1 when a mutant survives.
//   npm run test:mutations [-- part of a mutation's name]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mutantOf, mutations } from "./mutants.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv[2] ?? "";
const began = Date.now();
const scratch = mkdtempSync(join(tmpdir(), "fanfold-mutants-"));
const left_out = new Set(["node_modules", ".git", "dist"]);
cpSync(root, scratch, { recursive: true, filter: (path) => !left_out.has(path.slice(root.length).split("/")[0]) });
symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));

/** Names of the tests that failed; a run that could not even start is a failure of the script, and so is one without tests. */
function redTests(files, name, only) {
  const report = join(scratch, "report.json");
  rmSync(report, { force: true });
  const args = [
    "--no-install",
    "vitest",
    "run",
    ...files,
    "--reporter=json",
    `--outputFile=${report}`,
    "--bail=3",
    "-t",
    only,
  ];
  const run = spawnSync("npx", args, { cwd: scratch, encoding: "utf8" });
  try {
    const { testResults, numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8"));
    if (numPassedTests + numFailedTests === 0) throw new Error("no test ran");
    return testResults.flatMap(({ assertionResults, message, name: file }) => {
      const red = assertionResults.filter(({ status }) => status === "failed").map(({ title }) => title);
      return red.length === 0 && message ? [`${file.slice(scratch.length + 1)}: ${message.split("\n")[0]}`] : red;
    });
  } catch (error) {
    throw new Error(`${name}: ${error}\n${run.stdout}\n${run.stderr}`);
  }
}

const survivors = [];
try {
  const files = [...new Set(mutations.flatMap(([, , , , tests]) => tests))];
  const red = redTests(files, "without any mutation", "^(?!.*10,000 times)");
  if (red.length > 0) throw new Error(`red without any mutation: ${red.join("; ")}`);
  for (const mutation of mutations) {
    const [name, file, , , tests, only = ""] = mutation;
    if (!name.includes(wanted)) continue;
    const path = join(scratch, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, mutantOf(mutation, text));
    const found = redTests(tests, name, only);
    writeFileSync(path, text);
    if (found.length === 0) survivors.push(name);
    const verdict = found.length === 0 ? "SURVIVED" : `${found.length}${found.length >= 3 ? "+" : ""} red`;
    process.stdout.write(
      `${verdict.padEnd(9)} ${name}\n${found
        .slice(0, 3)
        .map((title) => `            ${title}\n`)
        .join("")}`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(
  `${Math.round((Date.now() - began) / 1000)} s; ${survivors.length} of ${mutations.length} mutants survived\n`,
);
process.exitCode = survivors.length === 0 ? 0 : 1;
