// Raster tiles on the embedded database, which takes its time to be made: its list of reference systems is the one that is asked.
import { expect, test } from "vitest";
import { systemGdal } from "../../gdal_bin.js";
import { openStacService } from "../stac/stac_service.js";
import { makeCog, pictureOf, putItem, tileAt } from "./made_cogs.js";

const gdal = await systemGdal();

test.skipIf(!gdal.available)(
  "tiles are drawn of a reference system that only the embedded database's list knows",
  async () => {
    const service = await openStacService({}, "embedded");
    try {
      const corners = [4_676_000, 3_043_000, 4_706_000, 3_013_000] as const;
      const cog = await makeCog(
        { width: 600, height: 600, bands: 1, type: "Byte", value: () => 77, srs: "EPSG:3035", corners },
        ["COMPRESS=DEFLATE"],
      );
      await putItem(service.engine, cog, { id: "laea", bbox: [14.95, 50.1, 15.43, 50.4] });
      const place = tileAt(15.2, 50.25, 10).join("/");
      const answer = await fetch(`${service.url}/tiles/made/laea/10/${place}.png?rescale=0,255`, {
        headers: { authorization: `Bearer ${await service.key()}` },
      });
      expect(answer.status).toBe(200);
      const { bands } = await pictureOf(new Uint8Array(await answer.arrayBuffer()), ".png");
      const seen = bands[0]!.filter((_, at) => bands.length === 1 || bands[1]![at] === 255);
      expect([...new Set(seen)]).toEqual([77]);
    } finally {
      await service.close();
    }
  },
  400_000,
);
