import { stream_api } from "../../core/api/stream.js";
import { isTerminal } from "../../core/shown/statuses.js";
import { routes } from "../http/route.js";
import { openStream } from "../stream/stream.js";

export const streamRoutes = () =>
  routes(stream_api, {
    async stream({ engine, principal, query, request, reply, service, place }) {
      const header = request.headers["last-event-id"];
      const position = query.last_event_id ?? (Array.isArray(header) ? header[0] : header);
      const job = query.job_id === undefined ? null : await engine.queries.jobState(query.job_id);
      const job_id = job?.job_id ?? null;
      if (request.method === "HEAD") {
        reply.type(stream_api.stream.media_type).send("");
        return {};
      }
      await openStream({
        service,
        engine,
        principal,
        job_id,
        position,
        // Without a status when it cannot be asked just now: the events tell it all the same.
        ready: async () => {
          if (job_id === null) return {};
          const now = await engine.queries.jobState(job_id).catch(() => null);
          return now === null ? { job_id } : { job_id, status: now.status, ended: isTerminal(now.status) };
        },
        authorization: service.authorizationOf(request),
        raw: reply.raw,
        headers: { "x-request-id": request.id, "x-content-type-options": "nosniff" },
      });
      // Counted among the streams from here on.
      place.leave();
      reply.hijack();
      return {};
    },
  });
