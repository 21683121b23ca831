// The chart rendered by Helm, and what comes out judged by kubernetes-validate: for plain workers, for those that KEDA scales, and for Jobs.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const run = promisify(execFile);
const chart = fileURLToPath(new URL("../../deploy/chart", import.meta.url));
let folder: string;
let helm = "helm";
let validate: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-chart-"));
  // From Go's own registry where the system has none: it is not in Debian.
  if (
    await run("helm", ["version"]).then(
      () => false,
      () => true,
    )
  ) {
    helm = path.join(folder, "helm");
    await run("go", ["install", "helm.sh/helm/v3/cmd/helm@v3.16.4"], {
      env: { ...process.env, GOBIN: folder },
      timeout: 1_500_000,
    });
  }
  await run("python3", ["-m", "venv", path.join(folder, "venv")]);
  await run(path.join(folder, "venv/bin/pip"), ["install", "-q", "kubernetes-validate==1.32.0"], { timeout: 300_000 });
  validate = path.join(folder, "venv/bin/kubernetes-validate");
}, 1_800_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: Record<string, never>;
}

async function rendered(values: object): Promise<Manifest[]> {
  const file = path.join(folder, "values.json");
  await writeFile(file, JSON.stringify(values));
  const { stdout } = await run(helm, ["template", "maps", chart, "-n", "geo", "--kube-version", "1.32.0", "-f", file]);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest)
    .filter((one) => one !== null);
}

test("plain: two servers with a budget, a migration before them, a Deployment for each class of workers, all valid", async () => {
  const manifests = await rendered({ env: { FANFOLD_ZONE_BRONZE: "s3://bronze" } });
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
    "Deployment maps-server",
    "Deployment maps-worker-general",
    "Job maps-migrate",
    "PodDisruptionBudget maps-server",
    "Service maps",
  ]);
  const file = path.join(folder, "plain.yaml");
  await writeFile(file, manifests.map((one) => JSON.stringify(one)).join("\n---\n"));
  const { stdout } = await run(validate, ["--strict", "-k", "1.32", file]);
  expect(stdout).not.toMatch(/ERROR/);
  expect(existsSync(file)).toBe(true);
});

test("with KEDA: a class that follows the work, and one of Jobs that end, both asking for the demand of their own types", async () => {
  const workers = [
    { name: "raster", types: "raster.*", slots: 2, scale: { min: 0, max: 20 } },
    { name: "nightly", types: "report.generate", slots: 4, job: { max: 5 } },
  ];
  const manifests = await rendered({ workers });
  const scaled = manifests.find(({ kind }) => kind === "ScaledObject") as never;
  expect(scaled).toMatchObject({
    metadata: { name: "maps-worker-raster" },
    spec: {
      scaleTargetRef: { name: "maps-worker-raster" },
      maxReplicaCount: 20,
      triggers: [
        {
          type: "metrics-api",
          metadata: {
            url: "http://maps.geo/api/queues/demand?everybody=true&slots=2&types=raster.*",
            valueLocation: "wanted_workers",
            targetValue: "1",
          },
          authenticationRef: { name: "maps-keda" },
        },
      ],
    },
  });
  expect(manifests.find(({ kind }) => kind === "ScaledJob")).toMatchObject({
    spec: {
      jobTargetRef: {
        template: {
          spec: { containers: [{ args: ["work", "--slots", "4", "--types", "report.generate", "--once"] }] },
        },
      },
    },
  });
  expect(manifests.some(({ kind }) => kind === "TriggerAuthentication")).toBe(true);
});
