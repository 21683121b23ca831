// A submitter or an operator as an OS process, started by client_process.ts: asks the engine what it is told to on stdin,
// as often at once as it is told to, and says on stdout what was answered.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { faultRegistry, nobody } from "./cast.js";
import type { Answer, ClientTask, Question } from "./client_process.js";

const task = JSON.parse(process.argv[2]!) as ClientTask;
const engine = await openEngine({ ...task, registry: faultRegistry(nobody) });
process.stdout.write("ready\n");

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as Question;
  while (process.hrtime.bigint() < BigInt(question.at)) await sleep(1);
  const answers = await Promise.all(Array.from({ length: question.times }, () => answered(engine, question)));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
await engine.close();

async function answered(asked: Engine, { verb, args }: Question): Promise<Answer> {
  try {
    return { ok: (await call(asked, verb, args)) as Record<string, unknown> };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { error: { code: String(code), message } };
  }
}

function call(asked: Engine, verb: Question["verb"], args: unknown[]): Promise<unknown> {
  const given = args as never[];
  if (verb === "resume" || verb === "retryStage") return asked.operate[verb](given[0]!, given[1]!, given[2]!);
  return asked[verb](given[0]!, given[1]!, given[2]!);
}
