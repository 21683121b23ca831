// A first job, from its declaration to its result: several texts are measured side by side, and one task adds them up.
import { createRegistry, defineHandler, defineJob, openEngine, startWorker } from "fanfold";
import { z } from "zod";

const measure = defineHandler("text.measure", { parameters: z.object({ text: z.string() }) }, async ({ text }) => ({
  characters: text.length,
}));

const addUp = defineHandler("text.add_up", {}, async (_parameters, ctx) => {
  let characters = 0;
  for await (const { result } of ctx.previous) characters += result.characters;
  return { characters };
});

const measureTexts = defineJob({
  type: "measure_texts",
  parameters: z.object({ texts: z.array(z.string()).min(1) }),
  stages: [
    { name: "measure", task: "text.measure", tasks: { each: "$.texts[*]", parameters: { text: "{item}" } } },
    { name: "total", task: "text.add_up", parallelism: "fan_in" },
  ],
});

const engine = await openEngine({
  registry: createRegistry({ jobs: [measureTexts], handlers: [measure, addUp] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
});
const worker = await startWorker(engine);
try {
  const parameters = { texts: ["fan out", "fold in", "lose nothing"] };
  const { job_id } = await engine.submit(measureTexts, parameters);
  const job = await engine.wait(job_id);
  const { characters } = job.result as { characters: number };
  console.log(`${job.status}: ${characters} characters in ${job.stages[0]?.completed} texts`);

  // The same parameters are the same job: nothing runs twice.
  const again = await engine.submit(measureTexts, parameters);
  console.log(`submitted again: ${again.created ? "a new job" : "the same job"}`);
} finally {
  await worker.stop();
  await engine.close();
}
