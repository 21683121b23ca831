// Checks the types of the TypeScript in README.md and docs/: each block is a module of its own. A comment `<!-- ts … -->` right above a
// block says what its reader has already; where that has a «», the block stands in its place.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, ".snippets");
const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const problems = [];
for (const document of documents.filter((name) => name.endsWith(".md"))) {
  const text = readFileSync(join(root, document), "utf8");
  for (const block of text.matchAll(/(?:<!-- ts\n(.*?)-->\n)?^```(ts|js|javascript)\n(.*?)^```/gms)) {
    const [, given = "", language] = block;
    // What is left out for the reader.
    const code = block[3].replaceAll("…", "");
    const line = text.slice(0, block.index).split("\n").length;
    if (language !== "ts") problems.push(`${document}:${line}: a ${language} block; examples are TypeScript`);
    const module = given.includes("«»") ? given.replace("«»", () => code) : `${given}${code}`;
    writeFileSync(join(folder, `${document.replace(/\W/g, "_")}_line_${line}.ts`), `${module}\nexport {};\n`);
  }
}
const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({ extends: "../tsconfig.json", compilerOptions, include: ["*.ts"], exclude: [] }),
);
const { status } = spawnSync("npx", ["--no-install", "tsc", "-p", folder], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
});
rmSync(folder, { recursive: true, force: true });
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? status : 1;
