// What tasks share must not be changed by one of them. Pure.

/** The job's parameters are shared by the tasks of a claim: a handler that changes them would change its neighbours'. */
export function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
}
