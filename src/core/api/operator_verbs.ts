// What an operator does about jobs, tasks and task types, by the name of its method: the same for the engine and for the client. Pure.

import type { z } from "zod";
import { BadRequest } from "../errors/errors.js";
import { cells_api } from "./cells.js";
import type { BodyIn, Endpoint, ParamsOf, ReplyOf, SqlEndpoint } from "./endpoint.js";
import { operations_api } from "./operations.js";
import { tasks_api } from "./tasks.js";

type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name;
/** Verbs that change something and are one SQL function. */
type IsVerb<E> = E extends SqlEndpoint & Endpoint<z.ZodObject, z.ZodObject, infer Body>
  ? [z.output<Body>] extends [undefined]
    ? false
    : true
  : false;
type Named<Api, Noun extends string> = {
  [Name in keyof Api & string as IsVerb<Api[Name]> extends true ? `${Camel<Name>}${Noun}` : never]: Api[Name];
};

function named<Api extends Record<string, Endpoint>, Noun extends string>(api: Api, noun: Noun): Named<Api, Noun> {
  const verbs = Object.entries(api).filter(([, { sql, body }]) => sql !== undefined && body !== null);
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(verbs.map(([name, verb]) => [`${camel(name)}${noun}`, verb])) as Named<Api, Noun>;
}

export const operator_verbs = {
  ...named(operations_api, ""),
  ...named(tasks_api, "Task"),
  ...named(cells_api, "Tasks"),
};

type Verbs = typeof operator_verbs;
export type OperatorVerb = Verbs[keyof Verbs];

/** What a verb is about, as its path names it. */
type About<E> =
  ParamsOf<E> extends { job_id: string; stage: string }
    ? [job_id: string, stage: string | number]
    : ParamsOf<E> extends { job_id: string }
      ? [job_id: string]
      : ParamsOf<E> extends { task_id: string }
        ? [task_id: string]
        : [task_type: string];

type Fields<Body, Null> = { [Name in keyof Body]: Body[Name] | (undefined extends Body[Name] ? Null : never) };
type Method<E, Body, Options, Null> = undefined extends Body
  ? (...given: [...about: About<E>, options?: Options & Fields<NonNullable<Body>, Null>]) => Promise<ReplyOf<E>>
  : (...given: [...about: About<E>, options: Options & Fields<Body, Null>]) => Promise<ReplyOf<E>>;

/** A method for each verb: what it is about comes first, everything else is an option. `Null`: what may be left out may be null too. */
export type OperatorMethods<Options, Null = never> = {
  [Name in keyof Verbs]: Method<Verbs[Name], BodyIn<Verbs[Name]>, Options, Null>;
};

/** Gives a class the methods that it does not write itself. */
export function defineVerbs<Self extends object>(
  prototype: Self,
  call: (self: Self, verb: OperatorVerb, about: Record<string, string>, options: object) => Promise<unknown>,
): void {
  for (const [name, verb] of Object.entries<OperatorVerb>(operator_verbs)) {
    if (Object.hasOwn(prototype, name)) continue;
    const fields = Object.keys(verb.params.shape);
    const value = async function (this: Self, ...given: unknown[]) {
      const missing = fields.find((_, place) => given[place] === undefined || given[place] === null);
      if (missing !== undefined) throw new BadRequest(`${name} needs a ${missing}`);
      const about = Object.fromEntries(fields.map((field, place) => [field, String(given[place])]));
      return call(this, verb, about, (given[fields.length] ?? {}) as object);
    };
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}
