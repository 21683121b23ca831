// The parameters of a submit or an enqueue, from --parameters (file, standard input or JSON text) and key=value arguments.
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Problem } from "../../core/errors/problems.js";
import type { Io } from "./io.js";
import { type Parameters, readPairs, readParameterText } from "./pairs.js";

/** Pairs are laid over what --parameters gives. Problems are added to the list; nothing is thrown. */
export async function gatherParameters(
  io: Io,
  pairs: readonly string[],
  source: string | undefined,
  problems: Problem[],
): Promise<Parameters> {
  const base = source === undefined ? { parameters: {}, problems: [] } : await readSource(io, source);
  const laid = readPairs(pairs, base.parameters);
  problems.push(...base.problems, ...laid.problems);
  return laid.parameters;
}

async function readSource(io: Io, source: string): Promise<{ parameters: Parameters; problems: Problem[] }> {
  if (source === "-") return readParameterText(await io.stdin(), "standard input");
  if (!source.startsWith("@")) return readParameterText(source, "--parameters");
  const file = source.slice(1);
  try {
    return readParameterText(await readFile(path.resolve(io.cwd, file)), file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    return {
      parameters: {},
      problems: [
        { path: file, problem: `cannot be read (${code})`, fix: "--parameters @file.json, or - for standard input" },
      ],
    };
  }
}
