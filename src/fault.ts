// Named places at which a test can stop, fail or kill the process. In production nothing is armed and a place costs one
// comparison. Armed by a test in the same process, or by FANFOLD_FAULTS in a child: `after-claim:kill9,mid-plan:error@2`.
import { fault_setting } from "./config.js";

export type FaultAction = () => void | Promise<void>;

const actions = {
  kill9: () => process.kill(process.pid, "SIGKILL"),
  exit: () => process.exit(70),
  hang: () => new Promise<never>(() => {}),
  error: (name: string) => {
    throw new Error(`fault ${name}`);
  },
} as const;

const armed = new Map<string, FaultAction>();
let any_armed = false;
for (const entry of fault_setting.split(",")) if (entry.trim() !== "") armFromText(entry.trim());

/** `await fault("after-claim")` does nothing unless the name is armed. */
export function fault(name: string): void | Promise<void> {
  if (any_armed) return armed.get(name)?.();
}

/** Returns how to disarm it. Arming a name again replaces its action. */
export function armFault(name: string, action: FaultAction): () => void {
  armed.set(name, action);
  any_armed = true;
  return () => {
    if (armed.get(name) === action) armed.delete(name);
    any_armed = armed.size > 0;
  };
}

export function disarmFaults(): void {
  armed.clear();
  any_armed = false;
}

/** `name:action` or `name:action@n`, which acts at the n-th time only. */
function armFromText(entry: string): void {
  const match = /^([a-z0-9-]+):([a-z0-9]+)(?:@(\d+))?$/.exec(entry);
  const action = match?.[2] as keyof typeof actions;
  if (match?.[1] === undefined || !Object.hasOwn(actions, action)) {
    throw new Error(`FANFOLD_FAULTS: "${entry}" is not name:action; actions are ${Object.keys(actions).join(", ")}`);
  }
  const name = match[1];
  let left = Number(match[3] ?? 1);
  armFault(name, () => {
    // After its turn an error or a hang is over; without @n it stays.
    if (match[3] !== undefined && --left !== 0) return;
    return actions[action](name) as void | Promise<void>;
  });
}
