import { schedules_api } from "../../core/api/schedules.js";
import type { ScheduleGiven, ScheduleRecord } from "../../engine/verbs/schedule_records.js";
import { routes } from "../http/route.js";

/** The same record with its options as plain JSON. */
const told = (schedule: ScheduleRecord) => ({ ...schedule, options: { ...schedule.options } });

export const schedulesRoutes = () =>
  routes(schedules_api, {
    async list({ engine, query: { cursor, ...query } }) {
      const { schedules, next } = await engine.schedules.list({ ...query, cursor: cursor ?? null });
      return { schedules: schedules.map(told), next };
    },
    get: async ({ engine, params }) => told(await engine.schedules.get(params.name)),
    async put({ engine, params, body: { if_version = null, actor: person, ...given }, reply, actor }) {
      const { created, schedule } = await engine.schedules.put(params.name, given as ScheduleGiven, {
        if_version,
        actor: actor(person),
      });
      if (created) reply.status(201);
      return told(schedule);
    },
    async patch({ engine, params, body: { if_version = null, actor: person, ...change }, actor }) {
      const given = change as Partial<ScheduleGiven>;
      return told(await engine.schedules.patch(params.name, given, { if_version, actor: actor(person) }));
    },
    async pause({ engine, params, body: { reason = null, actor: person }, actor }) {
      const { changed, schedule } = await engine.schedules.pause(params.name, { reason, actor: actor(person) });
      return { changed, schedule: told(schedule) };
    },
    async continue({ engine, params, body: { reason = null, actor: person }, actor }) {
      const { changed, schedule } = await engine.schedules.continue(params.name, { reason, actor: actor(person) });
      return { changed, schedule: told(schedule) };
    },
    run: ({ engine, params, body: { reason = null, actor: person }, actor }) =>
      engine.schedules.runNow(params.name, { reason, actor: actor(person) }),
    async preview({ engine, params, query }) {
      const { cron, time_zone } = await engine.schedules.get(params.name);
      return engine.schedules.preview(cron, time_zone, query.count);
    },
    previewPattern: ({ engine, query: { cron, time_zone, count } }) => engine.schedules.preview(cron, time_zone, count),
  });
