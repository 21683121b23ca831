// A real browser before a real service with a real worker, for tests of the dashboard:
//
//   describeInBrowser("the workers page", { parts: { jobs, handlers }, worker: { slots: 4 } }, (dashboard) => {
//     test("shows who works", async () => {
//       const page = await dashboard.open("/workers");           // signed in as tenant "default" with all scopes
//       await page.getByRole("heading", { name: "Workers" }).waitFor();
//       await dashboard.axe();                                   // nothing serious or critical
//     });
//   });
//
// One service and one worker for the block, one Chromium for all blocks; a fresh page for each test. After each test it fails on anything that the
// browser complained of: console errors, errors of scripts, violations of the Content-Security-Policy, requests that failed, answers
// above 399 and requests to anywhere else. What a test provokes on purpose it names first: dashboard.allow(/404 .*\/api\/jobs/).
// Where there is no Chromium the block is skipped and says why. Strings given to `evaluate` may use the DOM.
//
// A busy machine is no failure: wait for what is to come (`waitFor`, `expect.poll`), look at once only for what must not be there.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { type Scope, scopes } from "../../src/core/api/endpoint.js";
import type { RegistryParts } from "../../src/core/declare/registry.js";
import type { AppOptions } from "../../src/server/app.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import type { Variant } from "../postgres.js";
import { openService, type TestService } from "../server/service.js";
import { builtDashboard } from "./built.js";
import { findChromium } from "./chromium.js";

export interface DashboardOptions {
  parts?: RegistryParts;
  app?: Partial<AppOptions>;
  /** Of the worker beside the service; false: none. */
  worker?: WorkerOptions | false;
  /** "stac" for a database with a catalogue. */
  variant?: Variant;
  /** Once, when the service is there: jobs, schedules, tenants. */
  prepare?(service: TestService): Promise<unknown>;
}

export interface Who {
  tenant?: string;
  scopes?: readonly Scope[];
  operator?: boolean;
}

export type Theme = "light" | "dark";

/** Patience, not hope: the machine may be busy. For one thing that is waited for; for a whole test; for all that a file needs first. */
const PATIENCE_MS = 60_000;
const TEST_PATIENCE_MS = 300_000;
const START_PATIENCE_MS = 600_000;

const chromium_found = await findChromium();
const axe_source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function describeInBrowser(
  name: string,
  options: DashboardOptions,
  tests: (dashboard: Dashboard) => void,
): void {
  const reason = "reason" in chromium_found ? chromium_found.reason : null;
  if (reason !== null) process.stderr.write(`tests of ${name} in a browser are skipped: ${reason}\n`);
  const title = reason === null ? name : `${name} (skipped: ${reason})`;
  describe.skipIf(reason !== null)(title, { timeout: TEST_PATIENCE_MS }, () => {
    const dashboard = new Dashboard(options);
    beforeAll(() => dashboard.start(), START_PATIENCE_MS);
    afterEach(({ task }) => dashboard.settle(task.result?.state === "fail" ? task.name : null), TEST_PATIENCE_MS);
    afterAll(() => dashboard.close(), TEST_PATIENCE_MS);
    tests(dashboard);
  });
}

export class Dashboard {
  #service: TestService | undefined;
  #browser: Browser | undefined;
  #main: Tab | undefined;
  /** All that are open, of whatever browser. */
  readonly #contexts = new Set<BrowserContext>();
  #allowed: RegExp[] = [];
  readonly #problems: string[] = [];

  constructor(private readonly options: DashboardOptions) {}

  get service(): TestService {
    return this.#service!;
  }

  get url(): string {
    return this.service.url;
  }

  /** The page of the test. */
  get page(): Page {
    return this.#main!.page;
  }

  async start(): Promise<void> {
    const { parts = {}, app = {}, worker = {}, variant, prepare } = this.options;
    const dashboard_folder = await builtDashboard();
    this.#service = await openService(parts, { dashboard_folder, ...app }, variant === undefined ? {} : { variant });
    if (worker !== false) await this.service.worker({ slots: 4, ...worker });
    await prepare?.(this.service);
    this.#browser = await sharedChromium();
  }

  /** A page of the dashboard in the test's browser, signed in; the browser is kept for the test's further pages. */
  async open(path = "/", who: Who & { theme?: Theme; width?: number } = {}): Promise<Page> {
    if (this.#main === undefined) {
      const context = await this.browser(who);
      this.#main = { context, page: await context.newPage() };
    }
    const { page } = this.#main;
    if (who.width !== undefined) await page.setViewportSize({ width: who.width, height: heightFor(who.width) });
    await this.go(path, page);
    return page;
  }

  /** Another page in the browser of the test, as a second tab. */
  async tab(path = "/"): Promise<Page> {
    const page = await this.#main!.context.newPage();
    await this.go(path, page);
    return page;
  }

  /** Goes to a path of the dashboard and waits until its page is there, with what it first asks for. */
  async go(path: string, page: Page = this.page): Promise<void> {
    await page.goto(this.url + path, { waitUntil: "commit" });
    await page.locator("h1").first().waitFor();
    await page.locator("main .skeleton").first().waitFor({ state: "detached" });
  }

  /** Closes the dialog once it says what was done: by its button, as the cross would also close it before. */
  async closeDialog(page: Page = this.page): Promise<void> {
    const dialog = page.locator("dialog[open]").last();
    const shown = await dialog.locator("h2").first().innerText();
    await dialog.locator(".dialog-body").getByRole("button", { name: "Close", exact: true }).click();
    await page
      .locator("dialog[open]")
      .getByRole("heading", { name: shown, exact: true })
      .waitFor({ state: "detached" });
  }

  /** Another browser: nothing is shared with the test's but the service. null: nobody is signed in. */
  async browser(who: (Who & { theme?: Theme; width?: number }) | null = {}): Promise<BrowserContext> {
    const { theme = "light", width = 1280 } = who ?? {};
    const context = await this.#browser!.newContext({
      viewport: { width, height: heightFor(width) },
      colorScheme: theme,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
    });
    context.setDefaultTimeout(PATIENCE_MS);
    this.#contexts.add(context);
    await this.#watch(context);
    if (who !== null) await this.signIn(who, context);
    return context;
  }

  /** As the sign-in page does; what was signed in before is so no more. */
  async signIn(
    { tenant = "default", scopes: some = scopes, operator = true }: Who = {},
    context = this.#main!.context,
  ) {
    const key = await this.service.key(tenant, some, { operator });
    const answer = await context.request.post(`${this.url}/api/session`, { data: { key } });
    expect(answer.status(), await answer.text()).toBe(201);
  }

  /** Narrow is a phone: 360. */
  async width(width: number, page: Page = this.page): Promise<void> {
    await page.setViewportSize({ width, height: heightFor(width) });
  }

  async theme(theme: Theme, page: Page = this.page): Promise<void> {
    await page.emulateMedia({ colorScheme: theme });
    // The page hears of it with its next frame, which on a busy machine may be far.
    await page.evaluate(`document.documentElement.dataset.theme = ${JSON.stringify(theme)}`);
  }

  /** Fails on what keeps people out, with where it is. `rules`: only these. */
  async axe(page: Page = this.page, rules: readonly string[] = []): Promise<void> {
    const options = {
      preload: false,
      resultTypes: ["violations"],
      ...(rules.length === 0 ? {} : { runOnly: { type: "rule", values: rules } }),
    };
    // By the debugger, which the page's policy does not bind. It stays until the page is left.
    if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe_source);
    const found = await page.evaluate<AxeFinding[]>(
      `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations
         .filter(({ impact }) => impact === "serious" || impact === "critical")
         .map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => html + " " + failureSummary) })))`,
    );
    if (found.length > 0) throw new Error(`axe on ${page.url()}:\n${JSON.stringify(found, null, 2)}`);
  }

  /** No page is wider than the window: only what scrolls by itself may be. */
  async expectNoSideways(page: Page = this.page): Promise<void> {
    // Pictures are drawn anew a moment after the window has changed.
    const sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    const message = `${page.url()} is wider than the window`;
    await expect.poll(() => page.evaluate<number>(sideways), { message }).toBeLessThanOrEqual(0);
  }

  /** For this test: what the browser will complain of, and is meant to. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  /** What was complained of so far in this test. */
  get problems(): readonly string[] {
    return this.#problems.filter((problem) => !this.#allowed.some((pattern) => pattern.test(problem)));
  }

  /** After each test: closes its pages, and fails on what the browser complained of. Of a test that failed a picture is kept. */
  async settle(failed: string | null = null): Promise<void> {
    for (const context of this.#contexts) {
      if (failed !== null) for (const page of context.pages()) await keepPicture(page, failed);
      await context.close();
    }
    this.#contexts.clear();
    this.#main = undefined;
    const { problems } = this;
    this.#problems.length = 0;
    this.#allowed = [];
    expect(problems, "what the browser complained of").toEqual([]);
  }

  async close(): Promise<void> {
    await this.#service?.close();
  }

  async #watch(context: BrowserContext): Promise<void> {
    const note = (problem: string) => void this.#problems.push(problem);
    await context.exposeBinding("tell_violation", (_, told: string) => note(`CSP violation: ${told}`));
    await context.addInitScript(
      `document.addEventListener("securitypolicyviolation", (event) =>
         tell_violation(event.effectiveDirective + " " + event.blockedURI + " " + event.sourceFile + ":" + event.lineNumber))`,
    );
    context.on("console", (message) => {
      // Told below, with the address.
      if (message.type() !== "error" || message.text().startsWith("Failed to load resource")) return;
      note(`console: ${message.text()} (${message.page()?.url() ?? "a worker"})`);
    });
    context.on("weberror", (error) => note(`script: ${error.error().stack ?? error.error()}`));
    context.on("request", (request) => {
      if (!request.url().startsWith(`${this.url}/`) && !/^(data|blob):/.test(request.url())) {
        note(`a request to elsewhere: ${request.url()}`);
      }
    });
    context.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      // A page that is left, or a query that is asked anew, breaks off what it asked for.
      if (why !== "net::ERR_ABORTED") note(`failed: ${request.method()} ${request.url()} ${why}`);
    });
    context.on("response", (response) => {
      const { method, url } = { method: response.request().method(), url: response.url() };
      const asks_who = method === "GET" && response.status() === 401 && url.endsWith("/api/session");
      if (response.status() >= 400 && !asks_who) note(`${response.status()} ${method} ${url}`);
    });
  }
}

interface Tab {
  context: BrowserContext;
  page: Page;
}

interface AxeFinding {
  id: string;
  help: string;
  nodes: string[];
}

/** Beside those of `npm run screenshots`. */
async function keepPicture(page: Page, test: string): Promise<void> {
  const name = `failed-${test.replaceAll(/[^\w]+/g, "_").slice(0, 80)}-${Date.now()}.png`;
  const path = fileURLToPath(new URL(`../../screenshots/${name}`, import.meta.url));
  await page.screenshot({ path, timeout: 5_000 }).catch(() => undefined);
  process.stderr.write(`what it looked like at ${page.url()}: ${path}\n`);
}

function heightFor(width: number): number {
  return width < 600 ? 740 : 860;
}

let shared: Promise<Browser> | undefined;

/** One for all files of this test process, which ends it when it ends. Each test has a context of its own, which shares nothing. */
async function sharedChromium(): Promise<Browser> {
  const known = await shared;
  if (!known?.isConnected()) shared = launchChromium();
  return shared!;
}

export function launchChromium(): Promise<Browser> {
  if ("reason" in chromium_found) throw new Error(chromium_found.reason);
  // Only WebGL needs a graphics card, and a software one will do. All else is painted without: Debian's Chromium would otherwise paint
  // every page with it, too.
  const painting = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
  const plainly = ["--disable-gpu-rasterization", "--disable-gpu-compositing"];
  return chromium.launch({
    executablePath: chromium_found.path,
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...painting, ...plainly],
    timeout: PATIENCE_MS,
  });
}
