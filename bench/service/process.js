// @ts-check
// One process of the service bench: the real server, a real worker, whoever calls them, or pg-boss's proxy. It ends when its
// parent is gone. Started by place.js.
const [role = "", settings = "{}"] = process.argv.slice(2);

/**
 * @typedef {object} Role
 * @property {(settings: any, tell: (told: object) => void) => Promise<any>} open
 * @property {(order: any) => Promise<any>} [ask]
 * @property {() => Promise<void>} close
 */

/** @type {Role} */
const { open, ask, close } = await import(`./${role}.js`);

process.on("message", async (/** @type {{ id: number, order: any }} */ { id, order }) => {
  try {
    const value =
      order.what === "open"
        ? await open(JSON.parse(settings), (told) => process.send?.(told))
        : order.what === "close"
          ? await close()
          : await ask?.(order);
    process.send?.({ id, value });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  if (order.what === "close") process.disconnect();
});
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => {});
