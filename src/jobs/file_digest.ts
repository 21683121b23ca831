// file_digest: every file of a folder, digested one task each, folded by hundreds into one manifest with a Merkle root.
//
// What goes wrong, and what then happens:
//   no such folder, or a file in its place     the job fails at once and says so
//   a file vanishes after it was listed        reported as missing in the manifest; the job completes
//   a file may not be read                     its task fails; up to half of the files: partial_success, more: failed
//   a file changes while it is read            tried again
//   the whole folder vanishes half-way         the job fails

import { createHash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { indexProblem } from "../core/declare/names.js";
import type { FileList } from "../handlers/files/list.js";

export const fileDigest = defineJob({
  type: "file_digest",
  description: "Size and SHA-256 of every file below a folder, and one Merkle root over all of them",
  parameters: z.object({
    folder: z
      .string()
      .min(1)
      // Resolved where it is typed: the worker may run elsewhere, and the job's id must name one folder only.
      .overwrite((text) => path.resolve(text))
      .describe("the folder; a relative one is resolved where the job is submitted"),
  }),
  stages: [
    { name: "list", task: "files.list" },
    {
      name: "digest",
      task: "files.digest",
      parallelism: "fan_out",
      failure_budget: { percent: 50 },
      tasks: async function* ({ parameters, previous }) {
        const { files } = await previous.one<FileList>();
        for (const file of files)
          yield { index: taskIndex(file), parameters: { folder: parameters.folder, path: file } };
      },
    },
    { name: "fold", task: "files.fold", parallelism: "fan_in", batch: 100 },
    { name: "manifest", task: "files.manifest", parallelism: "fan_in", after: ["list", "fold"], of: "fold" },
  ],
});

/** The path itself where it can be a name; else its hash, after a slash, with which no relative path begins. */
export function taskIndex(file: string): string {
  if (indexProblem(file) === null) return file;
  return `/sha256-${createHash("sha256").update(file).digest("hex")}`;
}
