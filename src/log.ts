// Structured JSON logs, one line per event, to stderr or to a given stream; stdout belongs to the command line's answers.
// Secrets do not get through: not by the name of their field, and not inside an address.
import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

export interface LogOptions {
  level?: string;
  stream?: DestinationStream;
  /** On every line, for example worker_id. */
  fields?: Record<string, unknown>;
}

const censored = "[redacted]";
const secret_name =
  /pass(word|wd|phrase)?$|secret|token$|authorization|cookie|api[_-]?key$|credential|private[_-]?key/i;
/** scheme://user:password@, but not scheme://host:port/…@ */
const url_password = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@"'\\]*:)(?!\d+\/)[^\s@"'\\]+@/gi;
const max_depth = 8;

export function createLog({ level = "info", stream, fields = {} }: LogOptions = {}): Logger {
  const log = pino(
    {
      level,
      base: withoutSecrets({ pid: process.pid, ...fields }, 0) as Record<string, unknown>,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (line) => withoutSecrets(line, 0) as Record<string, unknown>,
      },
      // On the finished line, because an address can stand in a message, a stack or any field.
      hooks: { streamWrite: hideUrlPasswords },
    },
    // Synchronous: the last lines before a crash are the ones that matter.
    stream ?? pino.destination({ fd: 2, sync: true }),
  );
  // A child's fields pass no formatter; its own children inherit this one.
  const { child } = log;
  log.child = function (this: Logger, bindings: Record<string, unknown>, ...rest: never[]) {
    return child.call(this, withoutSecrets(bindings, 0) as Record<string, unknown>, ...rest);
  } as typeof child;
  return log;
}

export function hideUrlPasswords(text: string): string {
  return text.replace(url_password, `$1${censored}@`);
}

/** A copy with secrets hidden; values that are their own kind of object (errors, dates) are left to pino. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === max_depth ? "[deep]" : value.map((one) => withoutSecrets(one, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  if (depth === max_depth) return "[deep]";
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      secret_name.test(name) ? censored : withoutSecrets(one, depth + 1),
    ]),
  );
}
