// Schedules over HTTP. Pure.

import { z } from "zod";
import { deadline_moments } from "../declare/deadline.js";
import { job_statuses } from "../shown/statuses.js";
import { max_cron_characters } from "../time/cron.js";
import { missed_policies } from "../time/schedule.js";
import { action } from "./action.js";
import { group_id } from "./dependencies.js";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, job_type, labels, limit, priority, reason, record, retry, shownLines, time } from "./fields.js";

export const schedule_name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/, "small letters, digits and _ . - in at most 63 characters")
  .describe("The schedule's name");

const cron = z
  .string()
  .min(1)
  .max(max_cron_characters)
  .describe("Minute, hour, day of month, month, day of week; a sixth field in front is seconds");
const time_zone = z.string().min(1).max(64).describe("Name of a time zone, e.g. Europe/Zurich");
const missed = z
  .enum(missed_policies)
  .describe("What happens to times that passed while no scheduler ran: no job, one job for all, or one for each");
const description = shownLines(500).nullable().describe("What it is for");

export const schedule_options = z
  .strictObject({
    priority: priority.optional(),
    labels: labels.optional(),
    deadline_s: z.number().positive().max(315_360_000).nullable().optional(),
    deadline_from: z.enum(deadline_moments).optional(),
    correlation_id: z.string().min(1).max(200).optional(),
    group_id: group_id.optional(),
    retry: retry.optional(),
  })
  .describe("Submit options of its jobs; the labels schedule and tick_at are added");
const parameters = record.describe(
  'The parameters of its jobs; a string that is exactly "{{tick_at}}" becomes the time, ISO 8601',
);

const whole = {
  cron,
  time_zone: time_zone.default("UTC"),
  job_type,
  parameters: parameters.default({}),
  options: schedule_options.default({}),
  missed: missed.default("one"),
  description: description.optional(),
};
const if_version = z
  .int()
  .min(0)
  .max(2_147_483_647)
  .optional()
  .describe("Change it only if this is its version; 0: only if it does not exist");

const tick = z
  .object({
    tick_at: time,
    outcome: z.enum(["submitted", "failed", "missed"]),
    job_id: z.string().nullable(),
    missed: z.int().describe("How many earlier times it also stands for"),
    by_hand: z.boolean(),
    actor: z.string().nullable(),
    reason: z.string().nullable(),
    at: time,
  })
  .meta({ id: "Tick" });

/** A time as lists show it: with how its job stands by now. */
const recent_tick = tick.extend({ job_status: z.enum(job_statuses).nullable() }).meta({ id: "RecentTick" });

export const schedule_record = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    cron: z.string(),
    time_zone: z.string(),
    words: z.string().describe("The pattern in words"),
    job_type: z.string(),
    parameters: record,
    options: record,
    missed: z.enum(missed_policies),
    version: z.int(),
    paused_at: time.nullable(),
    paused_by: z.string().nullable(),
    pause_reason: z.string().nullable(),
    next_at: time.nullable(),
    last_at: time.nullable(),
    last: tick.nullable(),
    created_at: time,
    created_by: z.string(),
    updated_at: time,
    updated_by: z.string(),
    recent: z.array(recent_tick).optional().describe("Its last times, newest first, where the list was asked for them"),
    fires: z.array(time).optional().describe("Its next times, where the list was asked for them"),
  })
  .meta({ id: "Schedule" });

const verb = z.strictObject({ reason, actor }).prefault({});
const changed = z.object({ changed: z.boolean(), schedule: schedule_record });
const preview = z.object({ words: z.string(), next: z.array(time) });
const count = z.coerce.number().int().min(1).max(100).default(5).describe("How many times");

const endpoint = endpointsOf({ tag: "schedules", scope: "read", params: { name: schedule_name } });

export const schedules_api = {
  list: endpoint("GET /api/schedules", {
    cli: "schedules",
    summary: "List schedules by name",
    query: z.strictObject({
      recent: z.coerce
        .number()
        .int()
        .min(0)
        .max(50)
        .default(0)
        .describe("How many past times to return for each, with the state of their jobs"),
      fires: z.coerce.number().int().min(0).max(10).default(0).describe("How many coming times to return for each"),
      limit,
      cursor,
    }),
    reply: z.object({ schedules: z.array(schedule_record), next: z.string().nullable() }),
  }),
  get: endpoint("GET /api/schedules/{name}", {
    cli: "schedules show {name}",
    summary: "One schedule",
    reply: schedule_record,
    errors: [404],
  }),
  put: endpoint("PUT /api/schedules/{name}", {
    scope: "operate",
    cli: "schedules set {name} {job_type}",
    summary: "Make a schedule, or replace it",
    description:
      "Each time of the pattern gets one job, a run of its own, however many processes look after schedules. A fixed time " +
      "inside the gap of summer time comes at its end, one inside the overlap comes once.",
    body: z.strictObject({ ...whole, if_version, actor }),
    reply: schedule_record,
    other_answers: { 201: { description: "It is new", schema: schedule_record } },
    errors: [409],
  }),
  patch: endpoint("PATCH /api/schedules/{name}", {
    scope: "operate",
    summary: "Change some of it and keep the rest",
    body: z.strictObject({
      ...z
        .strictObject({ cron, time_zone, job_type, parameters, options: schedule_options, missed, description })
        .partial().shape,
      if_version,
      actor,
    }),
    reply: schedule_record,
    errors: [404, 409],
  }),
  delete: endpoint("DELETE /api/schedules/{name}", {
    scope: "operate",
    cli: "schedules delete {name}",
    sql: "delete_schedule",
    summary: "Delete a schedule and its history; its jobs stay",
    reply: z.object({ name: z.string(), deleted: z.boolean() }),
    errors: [404],
  }),
  pause: endpoint("POST /api/schedules/{name}/pause", {
    scope: "operate",
    cli: "schedules pause {name}",
    summary: "Submit nothing until it is continued",
    body: verb,
    reply: changed,
    errors: [404],
    repeatable: true,
  }),
  continue: endpoint("POST /api/schedules/{name}/continue", {
    scope: "operate",
    cli: "schedules continue {name}",
    summary: "Go on with the first time after now",
    description: "Times that passed while it was paused are not made up for.",
    body: verb,
    reply: changed,
    errors: [404],
    repeatable: true,
  }),
  run: endpoint("POST /api/schedules/{name}/run", {
    scope: "submit",
    cli: "schedules run {name}",
    summary: "Submit its job now, whatever the clock says",
    body: verb,
    reply: z.object({
      job_id: z.string(),
      job_type: z.string(),
      run: z.int(),
      status: z.string(),
      created: z.boolean(),
      resumed: z.boolean(),
      epoch: z.int(),
      hint: z.string(),
      action: action.nullable(),
      tick_at: time,
    }),
    status: 201,
    errors: [404, 409],
  }),
  ticks: endpoint("GET /api/schedules/{name}/ticks", {
    cli: "schedules ticks {name}",
    sql: "list_ticks",
    summary: "Its times and what became of them, newest first",
    query: z.strictObject({ limit, cursor }),
    reply: z.object({ ticks: z.array(tick), next: z.string().nullable() }),
    errors: [404],
  }),
  preview: endpoint("GET /api/schedules/{name}/preview", {
    cli: "schedules preview {name}",
    summary: "Its next times",
    query: z.strictObject({ count }),
    reply: preview,
    errors: [404],
  }),
  previewPattern: endpoint("GET /api/schedule-preview", {
    summary: "The next times of a pattern, before a schedule is made of it",
    query: z.strictObject({ cron, time_zone: time_zone.default("UTC"), count }),
    reply: preview,
  }),
};
