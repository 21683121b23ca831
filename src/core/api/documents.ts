// The API's own description. Pure.
import { z } from "zod";
import { endpoint } from "./endpoint.js";

export const documents_api = {
  openapi: endpoint({
    method: "GET",
    path: "/api/openapi.json",
    tag: "documents",
    summary: "This API as an OpenAPI 3.1 document",
    scope: null,
    reply: z.looseObject({ openapi: z.string() }),
  }),
  docs: endpoint({
    method: "GET",
    path: "/api/docs",
    tag: "documents",
    summary: "This API as a page to read",
    scope: null,
    reply: z.string(),
    media_type: "text/html; charset=utf-8",
  }),
};
