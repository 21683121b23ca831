import { stream_api } from "../../core/api/stream.js";
import { routes } from "../route.js";
import { openStream } from "../stream.js";

export const streamRoutes = () =>
  routes(stream_api, {
    async stream({ engine, principal, query, request, reply, service, place }) {
      const header = request.headers["last-event-id"];
      const position = query.last_event_id ?? (Array.isArray(header) ? header[0] : header);
      const job_id = query.job_id === undefined ? null : (await engine.status(query.job_id)).job_id;
      if (request.method === "HEAD") return "";
      await openStream({
        ...{ service, engine, principal, job_id, position },
        authorization: request.headers.authorization,
        raw: reply.raw,
        headers: { "x-request-id": request.id, "x-content-type-options": "nosniff" },
      });
      // Counted among the streams from here on.
      place.leave();
      reply.hijack();
      return "";
    },
  });
