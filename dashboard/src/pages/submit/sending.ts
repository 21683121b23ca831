// Where the server's problems with a submit belong. Pure.
import type { Problem } from "../../../../src/core/errors/problems.js";

export interface Placed {
  parameters: Problem[];
  options: Problem[];
  /** Problems of neither: they stand above both. */
  others: Problem[];
}

/** The server names places in the parameters as $.a, in the request as body.a, and in what it made of it as $.jobs[0].a. */
export function placed(problems: readonly Problem[], option_names: readonly string[]): Placed {
  const found: Placed = { parameters: [], options: [], others: [] };
  for (const problem of problems) {
    const within = /^(?:body|\$\.jobs\[0\])(?=[.[]|$)/.exec(problem.path);
    const path = within === null ? problem.path : `$${problem.path.slice(within[0].length)}`;
    const first = /^\$\.([A-Za-z_]\w*)/.exec(path)?.[1];
    if (within !== null && first === "parameters") {
      found.parameters.push({ ...problem, path: `$${path.slice("$.parameters".length)}` });
    } else if (within !== null && first !== undefined && option_names.includes(first)) {
      found.options.push({ ...problem, path });
    } else if (within === null && path.startsWith("$")) found.parameters.push({ ...problem, path });
    else found.others.push(problem);
  }
  return found;
}
