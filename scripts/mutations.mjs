// Do the tests notice? Takes one guard out of a scratch copy of the repository at a time, and runs the tests that should turn
// red. The guards are those that "exactly once" stands on: the claim check of a finish, the lock and the guard of a stage's
// ledger, and the second look of the janitor. Prints which tests failed for each; exits 1 when a mutant survives.
//   npm run test:mutations [-- part of a mutation's name]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const finish_races = "test/engine/finish_races.test.ts";
const races = "test/engine/races.test.ts";
const janitor_races = "test/engine/janitor_races.test.ts";

/** [name, file, what is there, what stands there instead, test files, which tests of them] */
const mutations = [
  [
    "finish: any worker may finish a claim",
    "db/functions/finish.sql",
    "where k.claim_id = any (v_ids) and k.worker_id is not distinct from worker\n",
    "where k.claim_id = any (v_ids)\n",
    [finish_races],
  ],
  [
    "finish, one claim: what it no longer holds is stored",
    "db/functions/store_of_one_claim.sql",
    "v_claim.held @> i.o and i.o >= 0",
    "i.o >= 0",
    [finish_races],
  ],
  [
    "finish, many claims: what they no longer hold is stored",
    "db/functions/store_of_many_claims.sql",
    "k.claim_id = any (locked) and k.held @> i.o and i.o >= 0",
    "k.claim_id = any (locked) and i.o >= 0",
    [finish_races],
  ],
  [
    "finish: claims are not locked",
    "db/functions/finish.sql",
    "     order by k.claim_id for update);",
    "     order by k.claim_id);",
    [races],
    "^races on a real server finish_",
  ],
  [
    "finish: a late result is not on record",
    "db/functions/finish.sql",
    "if v_given > v_stored then",
    "if false then",
    [finish_races],
  ],
  [
    "settle: the ledger is read before it is locked",
    "db/functions/settle.sql",
    `set completed = p.completed + d.completed, failed = p.failed + d.failed, remaining = p.remaining - d.completed - d.failed,
             is_open = p.remaining > d.completed + d.failed
        from unnest(v_stages, v_completed, v_failed) as d(stage_id, completed, failed)
       where`,
    `set completed = q.completed + d.completed, failed = q.failed + d.failed, remaining = q.remaining - d.completed - d.failed,
             is_open = q.remaining > d.completed + d.failed
        from unnest(v_stages, v_completed, v_failed) as d(stage_id, completed, failed)
        cross join lateral (select * from app.stage_progress q where q.stage_id = d.stage_id offset 0) q
       where`,
    [finish_races],
  ],
  [
    "settle: a closed ledger moves on",
    "db/functions/settle.sql",
    "and p.stage_id = any (v_stages) and p.is_open",
    "and p.stage_id = any (v_stages)",
    [races],
    "slipped in beside a cancel",
  ],
  [
    "reap_workers: workers are not locked",
    "db/functions/reap_workers.sql",
    `limit 50
     for update skip locked);`,
    "limit 50);",
    [janitor_races],
  ],
  [
    "reap_workers: locked, but not looked at again",
    "db/functions/reap_workers.sql",
    [
      [
        "where w.status = 'live' and w.heartbeat_at < now() - make_interval(secs => w.lease_s)",
        `where w.worker_id = any (array(
       select s.worker_id from app.workers s where s.status = 'live' and s.heartbeat_at < now() - make_interval(secs => s.lease_s)))`,
      ],
      ["limit 50\n     for update skip locked);", "limit 50\n     for update);"],
    ],
    null,
    [janitor_races],
  ],
  [
    "mend_job: acts on what it saw before it had the locks",
    "db/functions/mend_job.sql",
    [
      [
        "  perform app.lock_job_for_verbs(v_job);\n",
        "  v_found := app.job_trouble(tenant, job);\n  perform app.lock_job_for_verbs(v_job);\n",
      ],
      [
        "      v_found := app.job_trouble(tenant, job);\n",
        "      if v_round > 1 then v_found := app.job_trouble(tenant, job); end if;\n",
      ],
    ],
    null,
    [janitor_races],
  ],
  [
    "mend_job: takes no locks",
    "db/functions/mend_job.sql",
    [
      ["  perform app.lock_job_for_verbs(v_job);\n", ""],
      ["      and p.is_open\n    order by p.stage_id for update;", "      and p.is_open\n    order by p.stage_id;"],
      [" and j.job_id = job for no key update;", " and j.job_id = job;"],
    ],
    null,
    [janitor_races],
  ],
  [
    "expire_tasks: claims are not locked",
    "db/functions/expire_tasks.sql",
    "where k.worker_id = v_worker order by k.claim_id for update;",
    "where k.worker_id = v_worker order by k.claim_id;",
    [janitor_races],
  ],
  [
    "expire_tasks: what has been finished meanwhile is failed",
    "db/functions/expire_tasks.sql",
    "and k.worker_id = v_worker and k.held @> (r ->> 'ordinal')::numeric::bigint",
    "and k.worker_id = v_worker",
    [janitor_races],
  ],
];

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
  for (const [name, file, there, instead, tests, only = ""] of mutations) {
    if (!name.includes(wanted)) continue;
    const path = join(scratch, file);
    const text = readFileSync(path, "utf8");
    const edits = typeof there === "string" ? [[there, instead]] : there;
    const mutant = edits.reduce((before, [from, to]) => {
      if (before.split(from).length < 2) throw new Error(`${name}: ${file} does not have\n${from}`);
      return before.replaceAll(from, to);
    }, text);
    writeFileSync(path, mutant);
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
