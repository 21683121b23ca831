// One service, two customers: keys, isolation and limits.
import {
  BeyondLimit,
  createRegistry,
  defineHandler,
  defineJob,
  type LimitValues,
  NotFound,
  openEngine,
  startServer,
  startWorker,
} from "fanfold";
import { createClient } from "fanfold/client";
import { z } from "zod";

const thumbnail = defineHandler("image.thumbnail", {}, async ({ image }) => ({ thumbnail: `${image}@64px` }));
const thumbnails = defineJob({
  type: "thumbnails",
  parameters: z.object({ images: z.array(z.string()) }),
  stages: [
    {
      name: "shrink",
      task: "image.thumbnail",
      tasks: { each: "$.images[*]", index: "{item}", parameters: { image: "{item}" } },
    },
  ],
});

const engine = await openEngine({
  registry: createRegistry({ jobs: [thumbnails], handlers: [thumbnail] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
});
const worker = await startWorker(engine);
const server = await startServer({ engine, port: 0 });

/** A customer: a tenant, what it may use at most, and the key it is given. The key is shown once and stored by nobody. */
async function customer(tenant_id: string, limits: Partial<LimitValues>) {
  await engine.tenants.create(tenant_id);
  const own = engine.forTenant(tenant_id);
  await own.limits.change(limits);
  const { key } = await own.keys.create({ name: `${tenant_id}'s first`, scopes: ["submit", "read", "operate"] });
  return createClient({ url: server.url, key });
}

try {
  const acme = await customer("acme", { fan_out: 1000, concurrent_tasks: 8 });
  const globex = await customer("globex", { fan_out: 3, concurrent_tasks: 2 });

  // The same parameters, submitted by both, are two jobs: an id says nothing across tenants.
  const images = ["a.png", "b.png"];
  const [of_acme, of_globex] = [await acme.submit(thumbnails, { images }), await globex.submit(thumbnails, { images })];
  console.log(`same parameters, same job id: ${of_acme.job_id === of_globex.job_id}`);
  console.log(`acme's job: ${(await acme.wait(of_acme.job_id)).status}`);
  console.log(`globex's job: ${(await globex.wait(of_globex.job_id)).status}`);

  // Another customer's job does not exist: neither to be seen nor to be touched.
  for (const ask of [() => globex.status(of_acme.job_id), () => globex.cancel(of_acme.job_id)]) {
    const error = await ask().catch((refusal) => refusal);
    console.log(`globex asks for acme's job: ${error instanceof NotFound ? "not found" : "FOUND"}`);
  }
  console.log(`globex sees ${(await globex.jobs().all()).length} job, acme sees ${(await acme.jobs().all()).length}`);

  // Limits are each customer's own, and a refusal names the limit and what to do.
  const many = { images: ["1.png", "2.png", "3.png", "4.png"] };
  const refused = await globex.submit(thumbnails, many).catch((refusal) => refusal);
  console.log(`globex, four images: ${refused instanceof BeyondLimit ? refused.message : "taken"}`);
  console.log(`acme, four images: ${(await acme.wait((await acme.submit(thumbnails, many)).job_id)).status}`);
} finally {
  await server.stop();
  await worker.stop();
  await engine.close();
}
