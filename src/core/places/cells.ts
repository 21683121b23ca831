// The cells of a deployment, as an operator writes them down: each is a deployment of its own, with servers, a database and places of files. Pure.
import { z } from "zod";

/** As many as numbers leave room for. */
export const most_cells = 128;

const files = z
  .strictObject({ storage: z.string(), bronze: z.string(), silver: z.string(), gold: z.string() })
  .describe("where its files lie, as its servers are told");

const cell = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, - and _"),
  number: z
    .int()
    .min(0)
    .max(most_cells - 1),
  urls: z.array(z.url({ protocol: /^https?$/ })).min(1),
  database_url: z.string().regex(/^postgres(ql)?:\/\//, "postgres://…"),
  files,
});

export const cells_file = z
  .strictObject({ cells: z.array(cell).min(1).max(most_cells) })
  .superRefine(({ cells }, context) => {
    for (const field of ["name", "number"] as const) {
      const seen = new Set<unknown>();
      for (const [place, one] of cells.entries()) {
        if (seen.has(one[field])) {
          const message = `${JSON.stringify(one[field])} is another cell's already`;
          context.addIssue({ code: "custom", path: ["cells", place, field], message });
        }
        seen.add(one[field]);
      }
    }
  });

export type CellSettings = z.infer<typeof cell>;
