// What an evil login has of platform requests, and a call of every verb of theirs that leaves a lock behind.
import type { Database } from "../../src/engine/database/database.js";
import { one } from "../engine/floor.js";
import { ask } from "../platform/floor.js";

export async function evilRequests(evil: Database): Promise<Record<string, string>> {
  const stages = [{ name: "only", task: "t.none" }];
  const jobs = [{ name: "make", job: "evil_job", number: 1 }];
  const gated = [{ ...jobs[0], gate: { message: "Go?" } }];
  await evil.sql`select app.register_blueprints(${JSON.stringify([{ type: "evil_job", stages }])}::text::jsonb)`;
  const recipes = [
    { data_type: "evil", jobs },
    { data_type: "evil_gated", jobs: gated },
    { data_type: "evil_reviewed", jobs: gated, approval: true },
  ];
  await evil.sql`select platform.register_recipes(${JSON.stringify(recipes)}::text::jsonb)`;
  const saved = (data_type: string) => JSON.stringify({ declaration: {}, recipe: { data_type, jobs } });
  await evil.sql`select platform.put_recipe(${saved("evil_removed")}::text::json)`;
  const { hash } = await one(evil.sql<{ hash: string }>`
    select platform.keep_recipe(${JSON.stringify(recipes[0])}::text::jsonb) #>> '{}' as hash`);
  const request = async (data_type: string) => (await ask(evil, data_type, {}, "evil")).request_id;
  const cancelled = await request("evil");
  await evil.sql`select platform.cancel_request(${cancelled})`;
  const body = (dataset_id: string) =>
    JSON.stringify({ dataset_id, resource_id: "r", version_id: "1", data_type: "evil" });
  return {
    "platform.cancel_request": `platform.cancel_request('${await request("evil")}')`,
    "platform.decide_gate": `platform.decide_gate('${await request("evil_gated")}', true)`,
    "platform.decide_release": `platform.decide_release('${await request("evil_reviewed")}', 'approve')`,
    "platform.keep_recipe": `platform.keep_recipe('${JSON.stringify({ data_type: "evil_kept", jobs })}')`,
    "platform.put_recipe": `platform.put_recipe('${saved("evil_saved")}')`,
    "platform.register_recipes": `platform.register_recipes('${JSON.stringify([{ data_type: "evil_told", jobs }])}')`,
    "platform.remove_recipe": "platform.remove_recipe('evil_removed')",
    "platform.resume_request": `platform.resume_request('${cancelled}')`,
    "platform.submit": `platform.submit('${body("sent")}')`,
    "platform.submit_request": `platform.submit_request('${hash}', '${body("kept")}')`,
    "platform.unpublish_release": `platform.unpublish_release('${await request("evil")}', false)`,
    "platform.plan_done": `platform.plan_done('${await request("evil")}', 'make', '{}', '0-0')`,
  };
}
