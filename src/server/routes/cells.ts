// The tasks of a stage as a whole, and verbs on a selection of them.
import { cells_api } from "../../core/api/cells.js";
import { routes } from "../http/route.js";
import { StageCellsKeeper } from "../jobs/kept_cells.js";

export const cellsRoutes = () => {
  const keeper = new StageCellsKeeper();
  return routes(cells_api, {
    async read({ engine, params, request, reply }) {
      const cells = await keeper.of(engine, params.job_id, params.stage);
      const etag = `"${cells.etag}"`;
      // A browser keeps it and asks each time whether it still holds.
      reply.headers({ etag, "cache-control": "private, no-cache", vary: "authorization, cookie, accept-encoding" });
      if (names(request.headers["if-none-match"], etag)) {
        reply.status(304);
        return;
      }
      if (!takesGzip(request.headers["accept-encoding"])) return cells.body;
      reply.header("content-encoding", "gzip");
      return cells.zipped();
    },
  });
};

/** A proxy that zips by itself marks the tag as weak. */
function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

function takesGzip(header: string | string[] | undefined): boolean {
  const found = /(?:^|[\s,])(?:x-)?gzip\s*(?:;\s*q=([\d.]+))?\s*(?:,|$)/i.exec(String(header ?? ""));
  return found !== null && Number(found[1] ?? 1) > 0;
}
