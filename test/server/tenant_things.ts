// Keys, webhooks, blueprints, schedules and groups, as a tenant makes and lists them.
import { expect } from "vitest";
import { type Chance, whole } from "./tenant_deeds.js";
import type { Door, Outcome, Side } from "./tenant_side.js";

/** Something done with nothing to name: makes things, lists them, works. */
export interface Walk {
  name: string;
  doors: Partial<Record<Door, (side: Side, chance: Chance) => Promise<Outcome>>>;
}

export const things: Walk[] = [
  {
    name: "list keys",
    doors: {
      http: (side) => side.http("GET", "/api/keys"),
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.keys.list().all());
        const made = outcome.value.filter(({ name }: { name: string }) => name !== "test");
        return side.expectAll(
          "key",
          outcome,
          made.map(({ key_id }: { key_id: string }) => key_id),
        );
      },
      sql: (side) => side.sql("list_keys"),
    },
  },
  {
    name: "make a key",
    doors: {
      http: async (side) => {
        const outcome = await side.http("POST", "/api/keys", { name: side.marker, scopes: ["read"] });
        side.note("key", outcome.value.key_id);
        return outcome;
      },
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.keys.create({ name: side.marker, scopes: ["read"] }));
        side.note("key", outcome.value.key_id);
        return outcome;
      },
    },
  },
  {
    name: "make a webhook",
    doors: {
      sdk: async (side) => {
        const url = `https://hooks.example.com/${side.marker}`;
        const outcome = await side.sdk((client) => client.webhooks.create({ url, secret: "secret://hooks" }));
        expect(outcome.refused, outcome.text).toBeNull();
        side.note("webhook", outcome.value.endpoint_id);
        return outcome;
      },
    },
  },
  {
    name: "list webhooks",
    doors: {
      http: async (side) => {
        const outcome = await side.http("GET", "/api/webhooks");
        return side.expectAll(
          "webhook",
          outcome,
          outcome.value.endpoints.map((one: { endpoint_id: string }) => one.endpoint_id),
        );
      },
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.webhooks.list());
        return side.expectAll(
          "webhook",
          outcome,
          outcome.value.map((one: { endpoint_id: string }) => one.endpoint_id),
        );
      },
      sql: (side) => side.sql("list_webhooks"),
    },
  },
  {
    name: "save a blueprint",
    doors: {
      sdk: async (side, chance) => {
        const type = `bp_${side.marker}_${whole(chance, 3)}`;
        const stages = [{ name: "a", task: "t.a", description: side.marker }];
        const outcome = await side.sdk((client) => client.blueprints.save(type, { stages }));
        expect(outcome.refused, outcome.text).toBeNull();
        side.note("blueprint", type);
        return outcome;
      },
    },
  },
  {
    name: "list blueprints",
    doors: {
      http: (side) => side.http("GET", "/api/blueprints"),
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.blueprints.list());
        const saved = outcome.value.filter(({ source }: { source: string }) => source === "saved");
        return side.expectAll(
          "blueprint",
          outcome,
          saved.map(({ type }: { type: string }) => type),
        );
      },
    },
  },
  {
    name: "make a schedule",
    doors: {
      sdk: async (side, chance) => {
        const name = `nightly.${side.marker}.${whole(chance, 3)}`;
        const cron = { cron: "0 3 1 1 *", description: side.marker };
        const outcome = await side.sdk((client) =>
          client.schedules.put(name, "plain", { n: 1, v: whole(chance, 6) }, cron),
        );
        expect(outcome.refused, outcome.text).toBeNull();
        side.note("schedule", name);
        return outcome;
      },
    },
  },
  {
    name: "list schedules",
    doors: {
      http: (side) => side.http("GET", "/api/schedules"),
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.schedules.list({ limit: 2 }).all());
        return side.expectAll(
          "schedule",
          outcome,
          outcome.value.map(({ name }: { name: string }) => name),
        );
      },
    },
  },
  {
    name: "make a group",
    doors: {
      http: async (side, chance) => {
        const id = `g.${side.marker}.${whole(chance, 3)}`;
        const outcome = await side.http("PUT", `/api/groups/${id}`, { name: side.marker });
        side.note("group", id);
        return outcome;
      },
    },
  },
  {
    name: "list groups",
    doors: {
      http: (side) => side.http("GET", "/api/groups"),
      sdk: async (side) => {
        const outcome = await side.sdk((client) => client.groups.list().all());
        return side.expectAll(
          "group",
          outcome,
          outcome.value.map(({ group_id }: { group_id: string }) => group_id),
        );
      },
    },
  },
];
