// The commands beside the buttons, given to a real shell: whatever stands in them, the program gets the words that were meant.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { cliLine, curlLine, plainJson, shellWord, verbCommands } from "../../dashboard/src/api/commands.js";
import { formLine, submitLines } from "../../dashboard/src/form/form_lines.js";
import { fromPlain } from "../../dashboard/src/form/values.js";

const base = "https://maps.example/fanfold";
const job_id = "ab12cd34ef56".padEnd(64, "0");

const hostile = [
  "it's fine",
  `"; rm -rf / #`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell would fill it in
  "$(touch /tmp/owned) `id` ${HOME} $HOME !!",
  "back\\slash \\n \\'",
  "line\nfeed\n\n",
  "tab\tbell\u0007escape\u001b[31m red",
  "\u0003; echo interrupted",
  "c1 \u009b31m and \u202eover\u202c and \ufeff",
  "mixed \u0007 and the end\n\n",
  "%s %b %% \\0101 \u001b",
  "-rf",
  "--dry-run",
  "~root *.ts {a,b} [x]",
  "a & b | c > d < e ; f",
  "ünïcode 𝄞 漢字",
  "",
  " ",
];

/** The words a program called like this would be given. */
function words(line: string, program: "fanfold" | "curl"): string[] {
  const script = `${program}() { for word; do printf '%s\\0' "$word"; done; }\n${line}`;
  const out = execFileSync("/bin/sh", ["-c", script], { env: { FANFOLD_KEY: "ff_live_key" }, encoding: "utf8" });
  return out.split("\0").slice(0, -1);
}

describe("a word of the shell", () => {
  test.each(hostile)("stays what it is: %j", (text) => {
    expect(words(`fanfold ${shellWord(text)} end`, "fanfold")).toEqual([text, "end"]);
  });

  test("holds nothing that a terminal obeys when it is pasted", () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    for (const text of hostile) expect(shellWord(text)).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  });

  test("is not quoted when it need not be", () => {
    expect(cliLine(["resume", "ab12cd34ef56"], { reason: "again" })).toBe("fanfold resume ab12cd34ef56 --reason again");
  });

  test("cannot hold what no shell can: NUL is left out", () => {
    expect(shellWord("a\0b")).toBe("ab");
  });
});

describe("the command line of a verb", () => {
  test.each(hostile.filter((text) => text !== ""))("gives the reason as one word: %j", (reason) => {
    const got = words(verbCommands(base, "cancel", { job_id, reason }).cli as string, "fanfold");
    const expected = reason.startsWith("-") ? [`--reason=${reason}`] : ["--reason", reason];
    expect(got).toEqual(["cancel", "ab12cd34ef56", ...expected]);
  });

  test("leaves out a reason that is empty, and says when nothing is to be changed", () => {
    expect(verbCommands(base, "resume", { job_id, reason: "", dry_run: true }).cli).toBe(
      "fanfold resume ab12cd34ef56 --dry-run",
    );
  });

  test("is that of fanfold for every verb", () => {
    const lines = [
      verbCommands(base, "approve", { job_id, stage: "publish" }),
      verbCommands(base, "retry_stage", { job_id, stage: "tiles" }),
      verbCommands(base, "retry_group", { job_id, signature: "5be0a1c2d3e4" }),
      verbCommands(base, "tasks.retry", { task_id: "17-0" }),
      verbCommands(base, "tasks.skip", { task_id: "17-3", reason: "lost" }),
      verbCommands(base, "pause_type", { task_type: "raster.cog" }),
      submitLines(
        base,
        "hello_world",
        fromPlain({ n: 3 }),
        fromPlain({ mode: "force", priority: 5, labels: { "a b": "c'd" } }),
      ),
    ].map(({ cli }) => cli);
    expect(lines).toEqual([
      "fanfold approve ab12cd34ef56 --stage publish",
      "fanfold retry ab12cd34ef56 --stage tiles",
      "fanfold retry ab12cd34ef56 --group 5be0a1c2d3e4",
      "fanfold retry --task 17-0",
      "fanfold skip 17-3 --reason lost",
      "fanfold pause --type raster.cog",
      `fanfold submit hello_world --parameters '{"n":3}' --mode force --priority 5 --label 'a b=c'\\''d'`,
    ]);
  });
});

describe("the line of a form", () => {
  const line = (verb: Parameters<typeof formLine>[0], given: unknown) => formLine(verb, fromPlain(given) as never);

  test("has the words of its verb, and its fields as the command line calls them", () => {
    expect([
      line("schedules.put", {
        name: "morning",
        job_type: "hello_world",
        cron: "30 6 * * 1-5",
        time_zone: "Europe/Zurich",
        parameters: { n: 3 },
        labels: { team: "hydro", "a b": "c" },
        deadline_s: 60,
        group_id: "night",
        retry: { attempts: 5, within_s: 900 },
      }),
      line("keys.create", { name: "ci", scopes: ["submit", "read"], expires_at: null, operator: true }),
      line("keys.rotate", { key_id: "k1", overlap_s: 0 }),
      line("webhooks.create", { endpoint_id: "", url: "https://a.example", events: ["job.failed"], timeout_s: 5 }),
      line("webhooks.update", { endpoint_id: "we_1", url: "https://b.example", description: "" }),
      line("webhooks.replay", { endpoint_id: "we_1", from: "a", statuses: ["failed", "discarded"] }),
      line("tenants.create", {}),
      line("jobs.submit", {
        job_type: "hello_world",
        parameters: {},
        deadline_s: null,
        run_at: "2030-01-31T08:00:00Z",
      }),
    ]).toEqual([
      `fanfold schedules set morning hello_world --cron '30 6 * * 1-5' --time-zone Europe/Zurich --parameters '{"n":3}' --deadline 60 --group night --retry attempts=5,within_s=900 --label team=hydro --label 'a b=c'`,
      "fanfold keys create ci --operator --scope submit --scope read",
      "fanfold keys rotate k1 --overlap 0",
      "fanfold webhooks create https://a.example --timeout 5 --event job.failed",
      "fanfold webhooks update we_1 --url https://b.example",
      "fanfold webhooks replay --endpoint we_1 --from a --status failed --status discarded",
      "fanfold tenants create TENANT_ID",
      "fanfold submit hello_world --no-deadline --at 2030-01-31T08:00:00Z",
    ]);
  });
});

test("parameters that are all null are said, because they are another job than none", () => {
  const parameters = fromPlain({ area: null });
  expect([
    submitLines(base, "hello_world", parameters, {}).cli,
    formLine("schedules.put", { name: "s", job_type: "t", parameters, retry: fromPlain({ attempts: null }) }),
    submitLines(base, "hello_world", {}, {}).cli,
  ]).toEqual([
    `fanfold submit hello_world --parameters '{"area":null}'`,
    `fanfold schedules set s t --parameters '{"area":null}'`,
    "fanfold submit hello_world",
  ]);
});

describe("curl", () => {
  test.each(hostile.filter((text) => text !== ""))(
    "sends the reason as it is, to the page's own address: %j",
    (reason) => {
      const line = verbCommands(base, "retry_group", { job_id, signature: "abc", reason }).curl;
      const [silent, x, method, url, h, auth, h2, type, d, body] = words(line, "curl");
      expect([silent, x, method, h, h2, d]).toEqual(["-sS", "-X", "POST", "-H", "-H", "-d"]);
      expect(url).toBe(`${base}/api/jobs/${job_id}/retry-group`);
      expect([auth, type]).toEqual(["Authorization: Bearer ff_live_key", "Content-Type: application/json"]);
      expect(JSON.parse(body as string)).toEqual({ signature: "abc", reason });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(line).not.toMatch(/[\0-\x1f\x7f-\x9f\u202a-\u202e]/);
    },
  );

  test("never holds the key itself, but asks the environment for it", () => {
    expect(curlLine(base, { method: "GET", path: "/api/jobs" })).toBe(
      `curl -sS '${base}/api/jobs' -H "Authorization: Bearer $FANFOLD_KEY"`,
    );
  });

  test.each(hostile.filter((text) => text !== ""))("names a thing in the path as one step of it: %j", (stage) => {
    const url = words(verbCommands(base, "retry_stage", { job_id, stage }).curl, "curl")[3] as string;
    const { pathname, origin } = new URL(url);
    expect(origin).toBe("https://maps.example");
    expect(decodeURIComponent(pathname.split("/").at(-1) as string)).toBe(stage);
    expect(pathname.split("/")).toHaveLength(7);
  });

  test("sends parameters with every digit and letter they have", () => {
    const parameters = { n: 9007199254740991, text: "\u001b[2J'\"\\", "__key'": [null, true, 1.5] };
    const { cli, curl } = submitLines(`${base}/`, "hello_world", fromPlain(parameters), {});
    expect(JSON.parse(words(curl, "curl").at(-1) as string)).toEqual({ parameters });
    expect(words(curl, "curl")[3]).toBe(`${base}/api/jobs/submit/hello_world`);
    const got = words(cli as string, "fanfold");
    expect(JSON.parse(got[got.indexOf("--parameters") + 1] as string)).toEqual(parameters);
  });
});

test("JSON for the terminal means the same as the JSON it was", () => {
  expect(JSON.parse(plainJson(hostile))).toEqual(hostile);
});
