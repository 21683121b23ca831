import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explain } from "../../src/cli/terminal/failure.js";
import { Stopping, Unavailable } from "../../src/core/errors/errors.js";
import { fanfold } from "./fake_terminal.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-cli-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const commands = [
  "up", "serve", "submit", "watch", "demo", "jobs", "status", "why", "verify", "errors", "events", "tasks", "alerts", "workers", "queues", "blueprints", "resume", "retry", "redo", "skip", "approve",
  "reject", "pause", "continue", "cancel", "sweep", "tenants", "keys", "limits", "connectors", "webhooks", "schedules", "groups", "doctor", "migrate",
]; // biome-ignore format: a list of words
// Nothing in this file needs a database: an address where none listens proves it.
const nowhere = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };

describe("help", () => {
  test("names every command, the exit codes and first steps", async () => {
    const { code, out } = await fanfold(["--help"]);
    expect(code).toBe(0);
    for (const word of [...commands, "Exit codes", "124", "Examples:", "DATABASE_URL"]) expect(out).toContain(word);
  });

  test.each(commands)("of %s teaches with examples and shows the global options", async (command) => {
    const { code, out } = await fanfold([command, "--help"]);
    expect(code).toBe(0);
    expect(out).toContain(`fanfold ${command}`);
    expect(out).toContain("--data-dir");
    if (command !== "tasks") expect(out).toContain("Examples:");
  });

  test("is what a bare fanfold prints, and that is a mistake of usage", async () => {
    const { code, out, err } = await fanfold([]);
    expect(code).toBe(2);
    expect(out + err).toContain("Usage: fanfold");
  });

  test("is never coloured unless colours are wanted", async () => {
    expect((await fanfold(["--help"])).out).not.toContain("\u001b");
  });

  test("the version is the package's", async () => {
    const { version } = (await import("../../package.json", { with: { type: "json" } })).default;
    expect(await fanfold(["--version"])).toMatchObject({ code: 0, out: `${version}\n` });
  });
});

test("only a job that failed ends with 1: what is out of reach ends with 5, what is refused with 4", () => {
  for (const error of [new Unavailable("away"), new Stopping("stopping")]) expect(explain(error).exit_code).toBe(5);
  expect(explain(Object.assign(new Unavailable("x"), { code: "storage" })).exit_code).toBe(5);
  expect(explain(Object.assign(new Unavailable("x"), { code: "throttled" })).exit_code).toBe(4);
});

describe("mistakes of usage end with 2, before any database is asked", () => {
  const mistakes: [string, string[], string][] = [
    ["an unknown command is answered with the nearest", ["submti", "hello_world"], "submit"],
    ["an unknown option", ["jobs", "--statsu", "failed"], "--status"],
    [
      "a mistake points to the help of its command",
      ["keys", "create", "--scop", "read"],
      "next: fanfold keys create --help",
    ],
    ["the nearest option stands on the same line", ["serve", "--prot", "1"], "'--prot' (did you mean --port?)"],
    ["the help of an unknown command", ["sbumit", "--help"], 'unknown command "sbumit" (did you mean submit?)'],
    ["the help of an unknown command of a noun", ["webhooks", "crate", "-h"], "next: fanfold webhooks --help"],
    ["a port that is none", ["serve", "--port", "abc"], "for example --port 8080"],
    ["a scope that does not exist", ["keys", "create", "me", "--scope", "submit,foo"], '"foo" is not known'],
    ["a name for a pattern", ["schedules", "set", "a", "hello_world", "--cron", "@daily"], "Write 0 0 * * *"],
    ["a day that never comes", ["schedules", "set", "a", "hello_world", "--cron", "0 0 30 2 *"], "30 February"],
    ["a missing argument", ["watch"], "missing required argument 'job'"],
    ["too many arguments", ["status", "a", "b"], "too many arguments"],
    ["an unknown job type names the nearest and the known", ["submit", "helo_world"], "hello_world"],
    ["a job type that is no word at all", ["submit", "../../x"], "known: cascade_h3, create_h3_grid, echo"],
    ["a job type that every object has", ["submit", "constructor"], "there is no job type"],
    ["a number that is none", ["jobs", "--limit", "many"], "--limit"],
    ["a page larger than a thousand", ["jobs", "--limit", "1000000000"], "1 to 1000"],
    ["a negative page", ["jobs", "--limit=-1"], "1 to 1000"],
    ["a status that does not exist", ["jobs", "--status", "done"], "completed"],
    ["a schedule whose pattern is none", ["schedules", "set", "a", "hello_world", "--cron", "* *"], "has 2 fields"],
    [
      "a schedule in a zone that is none",
      ["schedules", "set", "a", "hello_world", "--cron", "0 6 * * *", "--time-zone", "Mars/X"],
      "Mars/X",
    ],
    ["a preview of nothing", ["schedules", "preview"], "exactly one of them"],
    ["a group of no number of jobs", ["groups", "create", "a", "--expected", "none"], "--expected"],
    ["a stage without its job", ["tasks", "list", "--stage", "work"], "--job"],
    ["an unknown task type", ["tasks", "enqueue", "hello.great"], "hello.greet"],
    ["a moment without a time zone", ["tasks", "reschedule", "1-0", "2030-01-01T00:00"], "time zone"],
    ["a time-out that is no time", ["watch", "abcd", "--timeout", "soon"], "seconds"],
    ["a retry of nothing", ["retry", "abcd"], "exactly one of --stage, --group, --task"],
    ["a retry of two things", ["retry", "abcd", "--stage", "1", "--task", "1-0"], "exactly one of"],
    ["a retry of a stage of no job", ["retry", "--stage", "work"], "needs the job"],
    ["a pause of nothing", ["pause"], "exactly one of <job>, --type"],
    ["a pause of two things", ["pause", "abcd", "--type", "a.b"], "exactly one of <job>, --type"],
    ["a continue of nothing", ["continue"], "fanfold continue --type"],
    ["a cancel of nothing", ["cancel"], "exactly one of <job>, --filter"],
    ["a cancel of all, by an empty variable", ["cancel", "--filter", " "], "--filter status:queued,processing"],
    ["a filter that cannot be read", ["resume", "--filter", "staus:failed"], "status"],
    ["a wait for all that fit", ["resume", "--filter", "status:failed", "--wait"], "--wait follows one job"],
    ["a skip without a reason", ["skip", "17-0"], 'fanfold skip 17-0 --reason "…"'],
    ["a skip with an empty reason", ["skip", "17-0", "--reason", " "], "for a reason"],
    ["a rejection without a reason", ["reject", "abcd"], 'fanfold reject abcd --reason "…"'],
    ["a verb of nobody", ["resume", "abcd", "--by", " "], "--by is empty"],
    ["a dry run that waits", ["resume", "abcd", "--dry-run", "--wait"], "has nothing to wait for"],
    ["a time-out without a wait", ["retry", "abcd", "--stage", "1", "--timeout", "5"], "only limits --wait"],
    ["--resume beside another mode", ["submit", "hello_world", "--resume", "--mode", "force"], "is --mode resume"],
    ["a receiver that is none", ["submit", "hello_world", "--webhook", "https://example.com"], "is no receiver"],
    ["a deadline that is no time", ["submit", "hello_world", "--deadline", "never"], "seconds"],
    ["more alerts than a page holds", ["alerts", "--limit", "1001"], "1 to 1000"],
    ["a module that is not there", ["jobs", "--app", "no/such/module.js"], "there is no module"],
  ];
  test.each(mistakes)("%s", async (_name, argv, expected) => {
    const { code, out, err } = await fanfold(argv, { env: nowhere });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(expected);
    expect(err).not.toMatch(/\n\s+at .*\.[jt]s:\d+/);
  });

  test("all of them at once, each with what to do", async () => {
    const argv = [
      "submit",
      "hello_world",
      "n=5000",
      "m=1",
      "novalue",
      "--priority",
      "99999",
      "--label",
      "x",
      "--mode",
      "again",
      "--timeout",
      "1",
    ];
    const { code, err } = await fanfold(argv, { env: nowhere });
    expect(code).toBe(2);
    for (const word of ["$.n", "$.m", "novalue", "--priority", "--label", "--mode", "--timeout"])
      expect(err).toContain(word);
  });

  test("a misspelt parameter is answered with the nearest one", async () => {
    const { err } = await fanfold(["submit", "file_digest", "foldre=/tmp"], { env: nowhere });
    expect(err).toContain('"folder"');
    expect(err).toContain("is missing");
  });

  test("with --json it is one document that a program can read", async () => {
    const ended = await fanfold(["submit", "hello_world", "n=0", "--json"], { env: nowhere });
    expect(ended.code).toBe(2);
    expect(ended.err).toBe("");
    expect(ended.json()).toEqual({
      error: {
        code: "usage",
        what: expect.any(String),
        next: expect.any(String),
        problems: [{ path: "$.n", problem: expect.any(String), fix: expect.any(String) }],
      },
    });
    expect((await fanfold(["--nonsense", "--json"])).json().error.code).toBe("usage");
  });
});

describe("parameters", () => {
  const submit = (...argv: string[]) => ["submit", "hello_world", ...argv, "--json"];

  test.each([
    ["not JSON", "{n: 1}"],
    ["a list", "[]"],
    ["a text", '"x"'],
    ["null", "null"],
    ["nothing", ""],
    ["a key twice", '{"n":1,"n":2}'],
    ["a prototype", '{"__proto__":{"admin":true}}'],
    ["a constructor's prototype", '{"constructor":{"prototype":{"x":1}}}'],
    ["an endless number", '{"n":1e400}'],
    ["a number no machine keeps", '{"n":12345678901234567890}'],
    ["a NUL", '{"n":"\\u0000"}'],
    ["half a character", '{"n":"\\ud800"}'],
    ["a hundred thousand levels", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
  ])("from standard input are refused when they hold %s", async (_name, stdin) => {
    const ended = await fanfold(submit("--parameters", "-"), { env: nowhere, stdin });
    expect(ended.code).toBe(2);
    expect(ended.json().error.problems.length).toBeGreaterThan(0);
  });

  test("in another encoding than UTF-8 are refused", async () => {
    const file = path.join(folder, "utf16.json");
    await writeFile(file, Buffer.from('\ufeff{"n":1}', "utf16le"));
    expect(
      (await fanfold(submit("--parameters", `@${file}`), { env: nowhere })).json().error.problems[0].path,
    ).toContain("utf16.json");
  });

  test("from a file that is not there are refused by its name", async () => {
    const ended = await fanfold(submit("--parameters", "@missing.json"), { env: nowhere, cwd: folder });
    expect(ended.json().error.problems).toEqual([
      { path: "missing.json", problem: "cannot be read (ENOENT)", fix: expect.any(String) },
    ]);
  });
});

describe("a module of one's own", () => {
  async function app(text: string): Promise<string> {
    const file = path.join(folder, `app-${Math.random().toString(36).slice(2)}.mjs`);
    await writeFile(file, text);
    return file;
  }

  test.each([
    ["does not parse", "export default {", "could not be loaded"],
    ["throws", "throw new Error('my own fault')", "my own fault"],
    ["exports nothing", "export const jobs = [];", "default export"],
    ["exports something else", "export default { jobs: 5 };", "default export"],
  ])("that %s is a clear mistake of usage", async (_name, text, expected) => {
    const { code, err } = await fanfold(["jobs", "--app", await app(text)], { env: nowhere });
    expect(code).toBe(2);
    expect(err).toContain(expected);
  });

  test("whose declarations are wrong is told all of them", async () => {
    const file = await app("export default { jobs: [{}, 5], handlers: ['x'] };");
    const { code, err } = await fanfold(["jobs", "--app", file], { env: nowhere });
    expect(code).toBe(2);
    expect(err.match(/ {2}- /g)?.length).toBeGreaterThanOrEqual(3);
  });
});

describe("a database that is not there", () => {
  test("ends with 5, and says what to do", async () => {
    const { code, out, err } = await fanfold(["jobs"], { env: nowhere });
    expect({ code, out }).toEqual({ code: 5, out: "" });
    expect(err).toMatch(/cannot be reached/);
    expect(err).toMatch(/ECONNREFUSED|refused/);
    expect(err).toMatch(/next: /);
  });

  test("ends doctor with 5 after everything else was checked", async () => {
    const ended = await fanfold(["doctor", "--json"], { env: { ...nowhere, FANFOLD_DATA_DIR: folder } });
    expect(ended.code).toBe(5);
    const { ok, findings } = ended.json();
    expect(ok).toBe(false);
    expect(findings.map((one: { name: string; level: string }) => `${one.name} ${one.level}`)).toEqual([
      "node ok",
      expect.stringMatching(/^isolation (ok|warn)$/),
      "storage ok",
      "zone bronze ok",
      "zone silver ok",
      "zone gold ok",
      "database fail",
    ]);
  });
});
