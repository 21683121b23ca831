// Reports: data stays data in a spreadsheet and in a browser, whatever it tries to be; they are made piece by piece, stored as
// assets, and handed out to their own tenant only.
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../../src/core/declare/declare.js";
import { Permanent } from "../../../src/core/errors/errors.js";
import type { Previous, TaskContext } from "../../../src/core/task/context.js";
import { csvCell, csvLine } from "../../../src/handlers/connectors/report_csv.js";
import { report_parameters, reportGenerate } from "../../../src/handlers/connectors/report_generate.js";
import { escapeHtml } from "../../../src/handlers/connectors/report_html.js";
import { openFolderStore } from "../../../src/storage/folder_store.js";
import { fakeContext } from "../../jobs/fake_context.js";
import { openService, type TestService } from "../../server/service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

describe("a CSV cell", () => {
  test.each([
    '=HYPERLINK("http://evil")',
    "+1+1",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\u0000=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠x",
    "\ufeff=1",
    " =1",
    "\u00a0-1",
    "\u200b+1",
    "\u3000＝1",
    "  @x",
    "=cmd|' /C calc'!A0",
    "\u2028=1",
    "-",
    "=",
  ])("that would be a formula is text: %j", (text) => {
    const cell = csvCell(text);
    const inner = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
    expect(inner).toBe(`'${text}`);
  });

  test("is quoted as RFC 4180 says, and for readers that take a semicolon for a comma", () => {
    expect(csvLine(["a,b", 'say "x"', "two\nlines", ";=1", " edge ", "plain"])).toBe(
      '"a,b","say ""x""","two\nlines",";=1"," edge ",plain\r\n',
    );
    expect(csvLine([""])).toBe('""\r\n');
    expect(csvLine(["", ""])).toBe(",\r\n");
  });

  test("is a number only where the value is one", () => {
    expect(csvLine([-2, "-2", 1e21, true, null, undefined, { a: [1] }])).toBe('-2,\'-2,1e+21,true,,,"{""a"":[1]}"\r\n');
  });
});

test("text becomes neither tag, attribute, link nor reversed text in a page", () => {
  for (const text of ["<img src=x onerror=alert(1)>", '"><script>', "' onmouseover='x", "`x`", "&lt;", "]]><!--"]) {
    expect(escapeHtml(text)).not.toMatch(/[<>"'`]|&(?!amp;|lt;|gt;|quot;|#39;|#96;)/);
  }
  expect(escapeHtml("\u0000\u0008\u202e\ud800")).toBe("\\u0000\\u0008\\u202e\ufffd");
  expect(escapeHtml({ a: "<" })).toBe("{&quot;a&quot;:&quot;&lt;&quot;}");
});

describe("a report over rows", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "fanfold-report-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const evil: unknown[] = [
    { name: "Zürich", note: "=1+1", n: -2 },
    { name: "<img src=x onerror=alert(1)>", href: "javascript:alert(1)", n: "-2" },
    { __proto__: null, constructor: "own", toString: "x" },
    "a text",
  ];

  async function made(
    parameters: object,
    more: Partial<TaskContext> = {},
  ): Promise<{ text: string; result: Loose; delivered: Loose[] }> {
    const storage = openFolderStore(dir);
    const delivered: Loose[] = [];
    const ctx = fakeContext({}, { storage, task_id: "7-0", deliver: (what) => void delivered.push(what), ...more });
    const result = (await reportGenerate.run(report_parameters.parse(parameters), ctx)) as Loose;
    return { text: (await storage.get(result.asset.ref)).toString("utf8"), result, delivered };
  }

  test("as CSV has every column there is, in order of appearance, or those asked for", async () => {
    const { text, result, delivered } = await made({ format: "csv", source: { rows: evil } });
    expect(text.split("\r\n")).toEqual([
      "name,note,n,href,constructor,toString,value",
      "Zürich,'=1+1,-2,,,,",
      "<img src=x onerror=alert(1)>,,'-2,javascript:alert(1),,,",
      ",,,,own,x,",
      ",,,,,,a text",
      "",
    ]);
    expect(result).toMatchObject({
      format: "csv",
      rows: 4,
      asset: {
        name: "report.csv",
        href: "/api/tasks/7-0/asset",
        media_type: "text/csv; charset=utf-8",
        bytes: Buffer.byteLength(text),
        checksum: `sha256:${createHash("sha256").update(text).digest("hex")}`,
      },
    });
    expect(delivered).toEqual([{ name: "report.csv", location: "/api/tasks/7-0/asset" }]);
    const some = await made({
      format: "csv",
      source: { rows: evil },
      columns: ["n", "constructor"],
      byte_order_mark: true,
    });
    expect(some.text).toBe("\ufeffn,constructor\r\n-2,\r\n'-2,\r\n,own\r\n,\r\n");
  });

  test("as JSON is one document, and as HTML a page that runs nothing", async () => {
    const json = await made({ format: "json", title: "T", source: { rows: evil } });
    expect(JSON.parse(json.text)).toMatchObject({
      title: "T",
      rows: [{ name: "Zürich", n: -2 }, { n: "-2" }, {}, { value: "a text" }],
    });
    expect(JSON.parse((await made({ format: "json", source: { rows: [] } })).text)).toMatchObject({
      columns: [],
      rows: [],
    });
    const { text } = await made({ format: "html", title: "</title><script>alert(1)</script>", source: { rows: evil } });
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)!;
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/);
    const [, style] = /<style>([^<]*)<\/style>/.exec(text)!;
    expect(policy).toContain(createHash("sha256").update(style!).digest("base64"));
    expect(text).not.toMatch(/<(script|img|a|iframe|object|form|link|base)\b|\son\w+=(?!x? ?alert)|href=/i);
    expect(text).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  test("may read a file of the tenant's, line by line, and no other's", async () => {
    const storage = openFolderStore(dir);
    const lines = `${evil
      .slice(0, 2)
      .map((row) => JSON.stringify(row))
      .join("\n")}\n\n`;
    const file = await storage.put("tenant-default/rows.ndjson", lines);
    expect((await made({ format: "csv", source: { file }, columns: ["n"] })).text).toBe("n\r\n-2\r\n'-2\r\n");
    const foreign = await storage.put("tenant-acme/rows.ndjson", lines);
    await expect(made({ format: "csv", source: { file: foreign } })).rejects.toMatchObject({ code: "foreign_file" });
    const altered = { ...file, sha256: "0".repeat(64) };
    await expect(made({ format: "csv", source: { file: altered }, columns: ["n"] })).rejects.toMatchObject({
      reason: "altered",
    });
    const broken = await storage.put("tenant-default/broken.ndjson", '{"a":1}\n{');
    await expect(made({ format: "csv", source: { file: broken } })).rejects.toMatchObject({ code: "bad_rows" });
  });

  test("of 100,000 rows is never held: no page is asked for before the one before is written", async () => {
    const page_rows = 1000;
    let asked = 0;
    let written = 0;
    let ahead = 0;
    const previous = {
      async *results() {
        for (let page = 0; page < 100; page++) {
          asked += page_rows;
          yield Array.from({ length: page_rows }, (_, n) => ({
            result: { n: page * page_rows + n, text: "x".repeat(200) },
          }));
        }
      },
    } as unknown as Previous;
    const storage: Loose = {
      async putStream(key: string, pieces: AsyncIterable<string>) {
        for await (const piece of pieces) {
          written += piece.split("\r\n").length - 1;
          ahead = Math.max(ahead, asked - written);
          expect(piece.length).toBeLessThan(200_000);
        }
        return { store: "file", key, bytes: 0, sha256: "" };
      },
    };
    const ctx = fakeContext({}, { storage, previous, task_id: "7-0", deliver: () => {} });
    const parameters = report_parameters.parse({ format: "csv", columns: ["n", "text"] });
    expect(await reportGenerate.run(parameters, ctx)).toMatchObject({ rows: 100_000 });
    expect(written).toBe(100_001);
    expect(ahead).toBeLessThanOrEqual(2 * page_rows);
  });
});

describe("a report in a job", () => {
  let service: TestService;
  const parts = defineHandler("t.part", {}, (_, ctx) => {
    if (ctx.index === "2") throw new Permanent("<b>part</b> is missing");
    return { part: ctx.index, formula: "=1+1" };
  });
  const job = defineJob({
    type: "reported",
    stages: [
      { name: "parts", task: "t.part", tasks: { count: 4 }, failure_budget: { count: 1 } },
      {
        name: "report",
        task: "connector.report.generate",
        tasks: { count: 1, parameters: { format: "csv", columns: ["part", "formula"] } },
      },
    ],
  });

  beforeAll(async () => {
    service = await openService({ jobs: [job], handlers: [parts, reportGenerate] });
    await service.worker({ poll_s: 0.2 });
  });
  afterAll(() => service?.close());

  async function enqueued(parameters: object): Promise<{ task_id: string; result: Loose }> {
    const { task_id } = await service.engine.enqueue("connector.report.generate", parameters as Loose);
    for (;;) {
      const { status, result, error } = await service.engine.task(task_id);
      if (status === "completed") return { task_id, result };
      if (status === "failed") throw new Error(JSON.stringify(error));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test("tells of the job and its tasks in every format, and is downloaded as an attachment that a browser does not run", async () => {
    const { job_id } = await service.engine.submit("reported", {
      format: "csv",
      columns: ["part", "formula"],
    } as Loose);
    const { status, deliverables } = await service.engine.wait(job_id);
    expect(status).toBe("partial_success");
    expect(deliverables).toMatchObject([{ name: "report.csv", stage: "report" }]);
    const own = await service.call("GET", deliverables[0]!.location!);
    expect(own.body).toBe("part,formula\r\n0,'=1+1\r\n1,'=1+1\r\n3,'=1+1\r\n");

    const csv = await enqueued({ format: "csv", source: { job_id } });
    const download = await service.call("GET", csv.result.asset.href);
    expect(download.status).toBe(200);
    expect(Object.fromEntries(download.headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-disposition": 'attachment; filename="report.csv"',
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect(createHash("sha256").update(download.body).digest("hex")).toBe(
      csv.result.asset.checksum.slice("sha256:".length),
    );
    const rows = download.body.trimEnd().split("\r\n");
    expect(rows).toHaveLength(6);
    expect(rows[3]).toMatch(/^parts,2,\d+-2,failed,1,\d*,.*,<b>part<\/b> is missing,$/);

    const json = await enqueued({ format: "json", source: { job_id } });
    expect((await service.call("GET", json.result.asset.href)).body).toMatchObject({
      job: {
        job_id,
        status: "partial_success",
        stages: [{ name: "parts", failed: 1 }, { name: "report" }],
        outcomes: [{}, {}],
      },
      rows: [{ index: "0", result: { part: "0" } }, {}, { status: "failed" }, {}, { stage: "report" }],
    });
    const html = await enqueued({ format: "html", source: { job_id }, title: "The job" });
    const page = (await service.call("GET", html.result.asset.href)).body;
    expect(page).toContain("&lt;b&gt;part&lt;/b&gt; is missing");
    expect(page).not.toContain("<b>");
  });

  test("is another tenant's to neither download nor make", async () => {
    const { task_id } = await enqueued({ format: "csv", source: { rows: [1] } });
    const key = await service.key("acme");
    expect((await service.call("GET", `/api/tasks/${task_id}/asset`, { key })).status).toBe(404);
    const { job_id } = await service.engine.submit("reported", {});
    await service.engine.wait(job_id);
    const acme = service.engine.forTenant("acme");
    const { task_id: theirs } = await acme.enqueue(
      "connector.report.generate",
      { format: "csv", source: { job_id } } as Loose,
      {
        max_attempts: 1,
      },
    );
    let task = await acme.task(theirs);
    while (task.status === "queued" || task.status === "processing") task = await acme.task(theirs);
    expect(task).toMatchObject({ status: "failed", error: { message: expect.stringContaining("there is no job") } });
  });

  test("whose file is gone, altered or elsewhere is not found, and neither is what a task did not make", async () => {
    const { task_id, result } = await enqueued({ format: "csv", source: { rows: [1, 2] } });
    const { store } = service.engine;
    await store.put(result.asset.ref.key, "value\r\n1\r\n9\r\n");
    expect((await service.call("GET", `/api/tasks/${task_id}/asset`)).status).toBe(404);
    await store.remove(result.asset.ref.key);
    expect((await service.call("GET", `/api/tasks/${task_id}/asset`)).status).toBe(404);
    const elsewhere = await service.engine.forTenant("acme").store.put("x.csv", "secret");
    const asset = { ...result.asset, ref: elsewhere };
    await service.db.sql`update app.results set result = ${JSON.stringify({ asset })}::text::jsonb
      where stage_id || '-' || ordinal = ${task_id}`;
    const refused = await service.call("GET", `/api/tasks/${task_id}/asset`);
    expect(refused).toMatchObject({ status: 404, body: { detail: "this task has made no file" } });
    expect((await service.call("GET", "/api/tasks/999999-0/asset")).status).toBe(404);
    expect((await service.call("GET", "/api/tasks/..%2fx/asset")).status).toBe(400);
    onTestFinished(() => service.engine.forTenant("acme").store.remove("x.csv"));
  });
});
