// Requests and datasets as people use them: a raster is brought with the form and asked for, watched, reviewed, approved, followed, revoked; what
// failed is repaired; and nothing of it is shown to another tenant.
import { expect, test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import { scene } from "../jobs/raster_world.js";
import { node_args } from "../worker/isolation_node.js";
import { describeInBrowser } from "./browser.js";
import { asked, broken, scene_parts, settled } from "./requests_scene.js";

const has_catalog = (await withoutPostgis()) === null;

describeInBrowser(
  "requests and datasets",
  {
    parts: scene_parts,
    worker: { slots: 4, isolation_node_args: node_args, raster: { engine: "wasm" } },
    ...(has_catalog ? { variant: "stac" as const } : {}),
  },
  (dashboard) => {
    const requests = () => dashboard.service.engine.requests;
    const verdict = (words: RegExp) => dashboard.page.locator("[data-verdict]").filter({ hasText: words }).waitFor();
    const button = (name: string) => dashboard.page.getByRole("button", { name, exact: true });
    const dialog = () => dashboard.page.locator("dialog[open]");
    const act = async () => {
      await dialog().locator("[data-verb=run]").click();
      await dashboard.closeDialog();
    };

    test.skipIf(!has_catalog)(
      "a raster is brought and asked for, its jobs end, it is approved, its services are there, and it is revoked",
      async () => {
        const page = await dashboard.open("/requests");
        await page.getByText("fanfold requests submit ./alps.tif").waitFor();
        await dashboard.axe();
        await page.getByRole("link", { name: "Ask for a dataset" }).click();
        await page.getByLabel("Dataset", { exact: true }).fill("relief");
        await page.getByLabel("Resource", { exact: true }).fill("alps");
        await page.getByLabel("Version", { exact: true }).fill("1");
        const file = { name: "alps.tif", mimeType: "image/tiff", buffer: Buffer.from(scene()) };
        await page.getByLabel("Files to bring along").setInputFiles(file);
        await page.getByText("found from the files: raster").waitFor({ state: "attached" });
        await page.locator("button.tab").getByText("JSON").click();
        const parameters = { approval: true, publication: { datetime: "2024-01-01T00:00:00Z" } };
        await page.locator(".submit textarea").last().fill(JSON.stringify(parameters));
        await button("Dry run").click();
        const would = page.locator("[data-would=create]");
        await would.getByText("relief-alps-1").waitFor();
        await would.getByText("may ask first: Publish this raster in the catalogue?").waitFor();
        await dashboard.axe();
        expect(await dashboard.service.db.sql`select from platform.requests`).toHaveLength(0);
        expect(await dashboard.service.db.sql`select from app.uploads`).toHaveLength(0);

        await button("Ask").click();
        await page.waitForURL(/\/requests\/[0-9a-f]{32}$/);
        const loaded_at = await page.evaluate("performance.timeOrigin");
        await verdict(/Step 3 of 3 \(publish\) waits for approval/);
        await page.getByRole("link", { name: "See what it makes" }).click();
        await page.getByText("It is the first of its resource").waitFor();
        await page.getByRole("row", { name: /COGs/ }).getByText("1").waitFor();
        await page.locator("nav.tabs").getByRole("link", { name: "Overview" }).click();

        await button("Approve").first().click();
        await dialog().getByText("would be approved").waitFor();
        await dialog().getByLabel("How far it may go").selectOption("public");
        await dialog().getByLabel(/^Why/).fill("looked at it");
        await dialog().getByText("The same on the command line").click();
        await dialog()
          .getByText(/fanfold datasets approve [0-9a-f]{32} --reason 'looked at it' --clearance public/)
          .waitFor();
        await act();
        await verdict(/^Completed/);
        expect(await page.evaluate("performance.timeOrigin")).toBe(loaded_at);
        for (const group of ["Collection", "Item", "Pictures", "Files"])
          await page.locator(".service-group").getByRole("heading", { name: group, exact: true }).waitFor();
        await page.locator(".service-group").getByRole("link", { name: "relief-alps-1", exact: true }).click();
        await page.waitForURL(/\/catalog\/relief\/relief-alps-1/);
        await page.goBack();

        await page.locator("nav.tabs").getByRole("link", { name: "Map" }).click();
        await page.getByText("In the catalogue (1)").waitFor();
        await page.locator(".map-canvas[data-ready]").waitFor();
        await page.locator("nav.tabs").getByRole("link", { name: "Events" }).click();
        await page.getByText("The release was approved: clearance public").waitFor();
        await page.getByText("Job publish completed").waitFor();

        await page.locator("summary").filter({ hasText: "⋯" }).or(page.locator(".menu > summary")).first().click();
        await button("Unpublish").click();
        await dialog().getByText("item relief/relief-alps-1").waitFor();
        await dialog().getByText("would go").waitFor();
        expect(await dialog().locator("[data-verb=run]").getAttribute("aria-disabled")).toBe("true");
        await page.keyboard.press("Escape");

        await dashboard.go("/datasets");
        await page.getByRole("link", { name: "relief / alps" }).click();
        await page.getByText("Version 1 is the latest").waitFor();
        await page.locator("[data-found=true]").getByText("the latest").waitFor();
        await page.locator("[data-version='1']").getByRole("button", { name: "Revoke" }).click();
        await dialog().getByText("What these jobs made would go").waitFor();
        await dialog().getByLabel(/^Why/).fill("wrong datum");
        await act();
        await page
          .locator("[data-approval=revoked]")
          .getByText(/Revoked by .* wrong datum/)
          .waitFor();
        await page.locator("[data-found=false]").getByText("the newest, 1, is revoked").waitFor();
        // What it made is taken down by a job.
        await expect
          .poll(async () => (await dashboard.service.call("GET", "/stac/search?limit=1")).body.features)
          .toEqual([]);
      },
    );

    test("a version is held against the one approved before: files, parameters, figures", async () => {
      for (const [version, more] of [
        ["1", {}],
        ["2", { parameters: { skip: 2 } }],
      ] as const) {
        const { request_id } = await requests().submit(asked(version, more));
        await settled(dashboard.service, request_id);
        if (version === "1") {
          await requests().decide(request_id, { approved: true, reason: "first of its kind" });
          await settled(dashboard.service, request_id);
          continue;
        }
        const page = await dashboard.open(`/requests/${request_id}/review`);
        const compared = page.locator("[data-compared=approved]");
        await compared.getByText("first of its kind").waitFor();
        await compared.locator("li").filter({ hasText: "skip" }).getByText("2", { exact: true }).waitFor();
        await compared.getByText("+ bronze:census-2.csv").waitFor();
        await compared.getByText("− bronze:census-1.csv").waitFor();
        // Two branches of one sequence, and the gate behind both.
        await page.locator("nav.tabs").getByRole("link", { name: "Overview" }).click();
        await page.locator("[data-stage='3']").getByText("in parallel").waitFor();
        await page.locator("[data-stage='4']").getByRole("button", { name: "Reject" }).click();
        await dialog().locator("[data-compared=approved]").getByText("skip").waitFor();
        await dialog().getByLabel(/^Why/).fill("rows are missing");
        await act();
        await verdict(/^Failed/);
      }
      const listed = await dashboard.service.call("GET", "/api/platform/releases?dataset_id=census&resource_id=people");
      expect(listed.body.releases).toMatchObject([{ approval: "rejected" }, { approval: "approved", latest: true }]);
    });

    test("what failed is told in groups, found by a filter of the address, and resumed", async () => {
      broken.add("bronze:census-broken.csv");
      const { request_id } = await requests().submit(asked("broken", { dataset_id: "census%41" }));
      await settled(dashboard.service, request_id);
      const page = await dashboard.open("/requests?status=failed,partial_success&text=ENSUS%2541/people");
      await page.getByRole("link", { name: "census%41 / people / broken" }).waitFor();
      const table = page.getByRole("table", { name: "Requests, newest first" });
      expect(await table.locator("tbody tr").count()).toBe(1);
      await page.getByText("requests of the last 24 hours went wrong").click();
      await dashboard.axe();
      await page.getByRole("link", { name: "census%41 / people / broken" }).click();
      await verdict(/Failed .* at step 1 of 3 \(validate\)/);
      await page.locator("[data-error=validate]").getByText("1 task:").waitFor();
      broken.clear();
      await button("Resume").first().click();
      await dialog().getByText("fanfold requests resubmit").waitFor({ state: "attached" });
      await act();
      await verdict(/waits for approval/);
      // A name that an address would read otherwise.
      await dashboard.go("/datasets?approval=pending_review");
      await page.getByRole("link", { name: "census%41 / people" }).click();
      await page.getByRole("heading", { name: "census%41 / people", level: 1 }).waitFor();
      await page.locator("[data-version=broken]").getByText("waits for review").waitFor();
    });

    test("problems of the form are told all at once, and what exists is not asked for again", async () => {
      const page = await dashboard.open("/requests/new?dataset=census&resource=people");
      dashboard.allow(/400 POST .*\/api\/platform\/submit/);
      await page.getByLabel("Places of files").fill("bronze:census-1.csv");
      await page.getByText("Still to be named: version").waitFor();
      await page.getByRole("textbox", { name: /delimiter/ }).fill(";;");
      await button("Dry run").click();
      await page.getByRole("alert").waitFor();
      await page.getByLabel("Version", { exact: true }).fill("1");
      await page.getByRole("textbox", { name: /delimiter/ }).fill(";");
      await button("Dry run").click();
      await page.locator("[data-would=refuse]").getByText("with other files or parameters").waitFor();
      await page.getByRole("textbox", { name: /delimiter/ }).fill(",");
      await button("Ask").click();
      await page.locator("[data-exists]").waitFor();
    });

    test("another tenant sees nothing of it, and who may only look is told so", async () => {
      const { request_id } = await requests().submit(asked("secret", { dataset_id: "zzsecretzz" }));
      const page = await dashboard.open("/requests", { tenant: "other-walk", scopes: ["read"], operator: false });
      expect(await button("Ask for a dataset").getAttribute("title")).toContain("scope submit");
      await page.getByText("No requests yet").waitFor();
      dashboard.allow(/404 GET .*\/api\/platform/);
      await dashboard.go(`/requests/${request_id}`);
      await page.getByText("There is no such request").waitFor();
      await dashboard.go("/datasets/resource?dataset=zzsecretzz&resource=people");
      await page.getByText("There is no such resource").waitFor();
    });
  },
);
