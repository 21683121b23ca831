// @ts-check
// One measurement of one contender: a fresh database cloned from its template, its child processes, and the end of both.
// The parent only tells, waits and measures here; all work is done in the children.
import { startChild } from "./processes.js";

/** A worker that makes no progress for this long has failed; the run goes on without it. */
const STALL_S = 60;

/**
 * @typedef {object} Bench what a measure needs of the run
 * @property {import("./server.js").Server} server
 * @property {import("./options.js").Options} options
 * @property {(line: string) => void} say
 *
 * @typedef {object} Cell
 * @property {string} url
 * @property {string} database
 * @property {() => Promise<import("./processes.js").Child>} child
 * @property {(children: import("./processes.js").Child[]) => Promise<void>} retire ends children before the cell does
 */

/** @type {Map<string, Promise<string>>} */
const templates = new Map();
let cells = 0;

/** @param {Bench} bench @param {string} contender */
function templateOf(bench, contender) {
  const known = templates.get(contender);
  if (known) return known;
  const made = makeTemplate(bench, contender);
  templates.set(contender, made);
  return made;
}

/** @param {Bench} bench @param {string} contender */
async function makeTemplate({ server }, contender) {
  const database = `${contender}_template`;
  await server.admin`create database ${server.admin(database)}`;
  const child = startChild(contender, server.url(database));
  try {
    await child.call("prepare");
  } finally {
    await child.stop();
  }
  return database;
}

/**
 * @template T
 * @param {Bench} bench @param {string} contender @param {(cell: Cell) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function inCell(bench, contender, work) {
  const { admin, url } = bench.server;
  const template = await templateOf(bench, contender);
  const database = `${contender}_${++cells}`;
  await admin`create database ${admin(database)} template ${admin(template)}`;
  /** @type {Set<import("./processes.js").Child>} */
  const children = new Set();
  try {
    return await work({
      database,
      url: url(database),
      async child() {
        const child = startChild(contender, url(database));
        children.add(child);
        await child.call("open");
        return child;
      },
      async retire(leaving) {
        for (const child of leaving) children.delete(child);
        await Promise.all(leaving.map((child) => child.stop()));
      },
    });
  } finally {
    await Promise.all([...children].map((child) => child.stop()));
    // Dropping also checkpoints, so that every cell starts at the same distance from the last one.
    await admin`drop database if exists ${admin(database)} with (force)`;
  }
}

/** Resolves when the children together have run n more handlers than at the time of the call.
 * @param {import("./processes.js").Child[]} children @param {number} n */
export function haveRun(children, n) {
  const total = () => children.reduce((sum, child) => sum + child.ran(), 0);
  const goal = total() + n;
  return new Promise((resolve, reject) => {
    let seen = total();
    const stall = setInterval(() => {
      if (total() === seen) {
        clearInterval(stall);
        reject(new Error(`no progress for ${STALL_S} s: ${n - (goal - total())} of ${n} ran`));
      }
      seen = total();
    }, STALL_S * 1000);
    for (const child of children) {
      child.on_progress(() => {
        if (total() < goal) return;
        clearInterval(stall);
        resolve(undefined);
      });
    }
  });
}
