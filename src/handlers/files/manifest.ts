// files.manifest: the subtrees into one manifest. It holds no time and no machine, so that the same folder gives the same
// manifest wherever and however often it is made.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import type { Fold } from "./fold.js";
import { type FileList, most_named, mustBeFolder } from "./list.js";
import { merkleRoot } from "./merkle.js";

export interface Manifest {
  folder: string;
  file_count: number;
  total_bytes: number;
  merkle_root: string;
  /** Gone or changed in kind between listing and reading. */
  missing_count: number;
  missing: { path: string; problem: string }[];
  /** Listed, but their digest failed: the tasks of the digest stage say why. */
  failed_count: number;
  /** Could not even be listed. */
  unreadable_count: number;
  unreadable: { path: string; problem: string }[];
  link_count: number;
  special_count: number;
}

export const filesManifest = defineHandler(
  "files.manifest",
  { parameters: z.object({ folder: z.string().min(1) }) },
  async ({ folder }, ctx): Promise<Manifest> => {
    // Without this a folder that is removed half-way would end as a manifest of thousands of missing files.
    await mustBeFolder(folder);
    const list = await ctx.previous("list").one<FileList>();
    const roots: Buffer[] = [];
    const missing: Manifest["missing"] = [];
    const sum = { file_count: 0, total_bytes: 0, missing_count: 0 };
    for await (const { result } of ctx.previous("fold")) {
      const fold = result as Fold;
      if (fold.root !== null) roots.push(Buffer.from(fold.root, "hex"));
      sum.file_count += fold.file_count;
      sum.total_bytes += fold.total_bytes;
      sum.missing_count += fold.missing.length;
      missing.push(...fold.missing.slice(0, most_named - missing.length));
    }
    return {
      folder,
      ...sum,
      merkle_root: merkleRoot(roots),
      missing,
      failed_count: list.file_count - sum.file_count - sum.missing_count,
      unreadable_count: list.unreadable_count,
      unreadable: list.unreadable,
      link_count: list.link_count,
      special_count: list.special_count,
    };
  },
);
