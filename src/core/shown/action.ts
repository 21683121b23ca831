// A next step as data, and its words. The database and the engine name a verb and what it is about; here that becomes the command
// that a person types, the call that a program sends, or a sentence that ends in one of them. Nothing reads the words back. Pure.
import type { z } from "zod";
import type { action } from "../api/action.js";
import { type VerbWords, verb_words } from "./verb_words.js";

export type Action = z.output<typeof action>;

/** How an action is put to its reader. */
export type Words = (action: Action) => string;

/** Steps that are no verb of the API, or one with something added. */
const other_words: Readonly<Record<string, { cli: string; http: string | null }>> = {
  "cells.move": { cli: "cells move {name}", http: null },
  "cells.prepare": { cli: "cells prepare", http: null },
  "cells.status": { cli: "cells status", http: null },
  doctor: { cli: "doctor", http: null },
  "keys.create_operator": { cli: "keys create {name} --operator", http: null },
  migrate: { cli: "migrate", http: null },
  sweep: { cli: "sweep", http: null },
  up: { cli: "up", http: null },
  watch: { cli: "watch {job_id}", http: "GET /api/jobs/status/{job_id}" },
  "webhooks.enable": {
    cli: "webhooks enable {endpoint_id}",
    http: 'PATCH /api/webhooks/{endpoint_id} {"enabled": true}',
  },
};

/** What the command does not name follows as options. */
export function asCommand(action: Action): string {
  const { text, left } = filled(`fanfold ${wordsOf(action).cli}`, action, (name) => `<${name}>`);
  return [text, ...left.map(([name, value]) => `--${name} ${/^[\w.:/-]+$/.test(value) ? value : `"${value}"`}`)].join(
    " ",
  );
}

/** What the path does not name is sent as the body. null: there is no such call. */
export function asCall(action: Action): string | null {
  const { http } = wordsOf(action);
  if (http === null) return null;
  const { text, left } = filled(http, action, (name) => `{${name}}`);
  const fields = left.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return fields.length === 0 ? text : `${text} {${fields.join(", ")}}`;
}

/** For readers who came over HTTP and may have no command line. */
export const asCallIfAny: Words = (action) => asCall(action) ?? asCommand(action);

/** `it is paused`, and what to do about it: `it is paused: fanfold continue 3f2a9c…`. */
export function sentence(text: string, action: Action | null, words: Words): string {
  return action === null ? text : `${text}: ${words(action)}`;
}

/** A hint of the database's for those who type. */
export function withCommand(advice: string, action: Action): string {
  return sentence(advice, action, asCommand);
}

/** A verb that is not known here is one of a later version: its name is as near as can be. */
function wordsOf({ verb }: Action): { cli: string; http: string | null } {
  if (Object.hasOwn(other_words, verb)) return other_words[verb]!;
  const known: VerbWords | undefined = (verb_words as Record<string, VerbWords>)[verb];
  const cli = known?.cli ?? verb.replaceAll(".", " ");
  return { cli, http: known === undefined ? null : `${known.method} ${known.path}` };
}

/** Fills the names in braces; of a job's id the first characters suffice. */
function filled(template: string, { verb: _, ...given }: Action, missing: (name: string) => string) {
  const left = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const text = template.replaceAll(/\{([a-z_]+)\}/g, (_slot, name: string) => {
    const value = left.get(name) ?? missing(name);
    left.delete(name);
    return name === "job_id" && value.length === 64 ? value.slice(0, 12) : value;
  });
  return { text, left: [...left] };
}
