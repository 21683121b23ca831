// Signing in and out as a person does it, in a real browser.
import { expect, test } from "vitest";
import { describeInBrowser } from "./browser.js";

describeInBrowser("the sign-in page", { worker: false }, (dashboard) => {
  const key_field = { name: "API key" };

  test("takes a key, says plainly what is wrong with one, and leads where one wanted to go", async () => {
    const context = await dashboard.browser(null);
    const page = await context.newPage();
    await page.goto(`${dashboard.url}/workers?x=1`);
    await page.getByRole("heading", { name: "Sign in to Fanfold" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    await dashboard.axe(page);
    await page.getByRole("textbox", key_field).or(page.getByLabel("API key")).first().fill("ff_live_wrong");
    dashboard.allow(/401 POST .*\/api\/session$/);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This key is not valid.").waitFor();
    await page.getByLabel("API key").fill(await dashboard.service.key("acme"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${dashboard.url}/workers?x=1`);
    await page.getByText("acme").first().waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/", secure: false });
    expect(await page.evaluate("document.cookie")).toBe("");
  });

  test("takes the code of a link once, and keeps it out of the history", async () => {
    const { body } = await dashboard.service.call("POST", "/api/session/link", {
      key: await dashboard.service.key("acme"),
    });
    const page = await (await dashboard.browser(null)).newPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url(), request.headers().referer ?? ""));
    await page.goto(body.url.replace("#", `?next=${encodeURIComponent("//evil.example/jobs")}#`));
    await page.getByText("acme").first().waitFor();
    expect(asked.join(" "), "a proxy writes down what it sees").not.toContain("ffl_");
    expect(page.url()).toMatch(new RegExp(`^${dashboard.url}/`));
    await page.goBack();
    expect(page.url()).not.toContain("code=");
    dashboard.allow(/401 POST .*\/api\/session$/);
    const late = await (await dashboard.browser(null)).newPage();
    await late.goto(body.url);
    await late.getByRole("alert").getByText("This link signs in no more").waitFor();
    expect(late.url()).toBe(`${dashboard.url}/sign-in`);
    await late.getByLabel("API key").waitFor();
    // Pasted into the page that is there already.
    const { body: another } = await dashboard.service.call("POST", "/api/session/link", {
      key: await dashboard.service.key("acme"),
    });
    await late.evaluate(`location.href = ${JSON.stringify(another.url)}`);
    await late.getByText("acme").first().waitFor();
  });

  test("is usable on a phone, light and dark", async () => {
    const page = await (await dashboard.browser(null)).newPage();
    await page.goto(`${dashboard.url}/sign-in`);
    await page.getByLabel("API key").waitFor();
    await dashboard.width(360, page);
    await dashboard.expectNoSideways(page);
    await dashboard.theme("dark", page);
    await dashboard.axe(page);
  });

  test("signing out, or in as another, changes every tab of the browser", async () => {
    const first = await dashboard.open("/", { tenant: "acme" });
    const second = await dashboard.tab("/");
    await second.getByText("acme").first().waitFor();
    await first.getByRole("button", { name: "Sign out" }).click();
    for (const page of [first, second]) await page.getByLabel("API key").waitFor();
    await first.getByLabel("API key").fill(await dashboard.service.key("globex"));
    await first.getByRole("button", { name: "Sign in" }).click();
    await first.getByText("globex").first().waitFor();
    expect(await first.locator("body").innerText()).not.toContain("acme");
  });
});
