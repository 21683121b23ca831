// The API's own description. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";

const endpoint = endpointsOf({ tag: "documents", scope: null });

export const documents_api = {
  openapi: endpoint("GET /api/openapi.json", {
    summary: "This API as an OpenAPI 3.1 document",
    reply: z.looseObject({ openapi: z.string() }),
  }),
  docs: endpoint("GET /api/docs", {
    summary: "This API as a page to read",
    reply: z.string(),
    media_type: "text/html; charset=utf-8",
  }),
};
