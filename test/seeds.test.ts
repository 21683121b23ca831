// docs/from-the-seeds.md: every row of the audit has an answer, and whatever it names on our side is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { z } from "zod";
import { programWith } from "../src/cli/program.js";
import type { Endpoint } from "../src/core/api/endpoint.js";
import { job_record, stage_record } from "../src/core/api/job_records.js";
import { jobs_api } from "../src/core/api/jobs.js";
import { request_record } from "../src/core/api/platform/requests.js";
import { task_record } from "../src/core/api/task_records.js";
import { builtinRegistry } from "../src/jobs/index.js";
import { allRoutes } from "../src/server/routes/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/from-the-seeds.md"), "utf8");
const rows = page.split("\n").flatMap((line) => {
  const cells = /^\| (\d+) \|(.*)\|(.*)\| ([=≠–]) \|(.*)\|$/.exec(line);
  return cells === null ? [] : [{ number: Number(cells[1]), ours: cells[3]!, mark: cells[4]!, why: cells[5]!.trim() }];
});
const named = rows.flatMap(({ number, ours, why }) =>
  [...`${ours} ${why}`.matchAll(/`([^`]+)`/g)].map(([, word]) => ({ number, word: word! })),
);

test("every row of the audit has an answer, and what differs says why", () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 232 }, (_, at) => at + 1));
  for (const { number, ours, mark, why } of rows) {
    expect([number, ours.trim()]).not.toEqual([number, ""]);
    if (mark !== "=") expect([number, why]).not.toEqual([number, ""]);
  }
});

test("every command that is named is there, with its options and job types", () => {
  const { program } = programWith({ cwd: root } as never, {});
  const types = new Set(builtinRegistry().jobs.map(({ type }) => type));
  const commands = named.filter(({ word }) => word.startsWith("fanfold "));
  expect(commands.length).toBeGreaterThan(30);
  for (const { number, word } of commands) {
    const [, ...parts] = word.split(" ");
    let command: Command = program;
    for (const part of parts) {
      const next = command.commands.find((one) => one.name() === part);
      if (next !== undefined) command = next;
      else if (part.startsWith("--"))
        expect([number, word, command.options.map(({ long }) => long)]).toEqual([
          number,
          word,
          expect.arrayContaining([part]),
        ]);
      else expect([number, word, command.name() === "submit" && types.has(part)]).toEqual([number, word, true]);
    }
    expect([number, word, command === program]).toEqual([number, word, false]);
  }
});

test("every function of the database that is named has its file", () => {
  const files = new Set(
    ["functions", "geo"]
      .flatMap((folder) => readdirSync(join(root, "db", folder), { recursive: true }).map(String))
      .map((file) => file.split("/").at(-1)),
  );
  const functions = named.filter(({ word }) => /^(app|platform)\.[a-z_]+$/.test(word));
  expect(functions.length).toBeGreaterThan(30);
  for (const { number, word } of functions)
    expect([number, word, files.has(`${word.split(".")[1]}.sql`)]).toEqual([number, word, true]);
  const tables = readdirSync(join(root, "db/geo/migrations"))
    .map((file) => readFileSync(join(root, "db/geo/migrations", file), "utf8"))
    .join("\n");
  for (const { word } of named.filter((one) => one.word.startsWith("geo.")))
    expect(tables).toContain(`create table ${word} `);
});

test("every call that is named is one of the API, by method and path", () => {
  const calls = new Set(
    allRoutes().map(({ endpoint }: { endpoint: Endpoint }) => `${endpoint.method} ${endpoint.path}`),
  );
  const told = named.filter(({ word }) => /^(GET|POST|PUT|PATCH|DELETE) \//.test(word));
  expect(told.length).toBeGreaterThan(15);
  for (const { number, word } of told) expect([number, word, calls.has(word)]).toEqual([number, word, true]);
});

test("every field that is named is one of its record, and every part of ctx is what a handler sees", () => {
  const records: Record<string, z.ZodType> = {
    job: job_record,
    stage: stage_record,
    task: task_record,
    request: request_record,
    submitted: jobs_api.submit.reply,
  };
  const context = readFileSync(join(root, "src/core/task/context.ts"), "utf8");
  let seen = 0;
  for (const { number, word } of named) {
    const [, record, field] = /^(job|stage|task|request|submitted|ctx)\.([a-z_]+)$/.exec(word) ?? [];
    if (record === undefined) continue;
    seen += 1;
    const schema = records[record];
    const is_there =
      schema === undefined
        ? new RegExp(`^  (readonly )?${field}[(<:]`, "m").test(context)
        : schema instanceof z.ZodObject && field! in schema.shape;
    expect([number, word, is_there]).toEqual([number, word, true]);
  }
  expect(seen).toBeGreaterThan(50);
});

test("every page and file that is named is there", () => {
  const files = named.filter(({ word }) => /^[\w./-]+\.(md|ts|yaml)$/.test(word));
  expect(files.length).toBeGreaterThan(30);
  for (const { number, word } of files)
    expect([number, word, existsSync(join(root, word))]).toEqual([number, word, true]);
});
