// @ts-check
// pg-boss behind its own HTTP proxy, where npm has it.
import pg_boss from "pg-boss";

/** @type {{ stop(): Promise<void> } | null} */
let proxy = null;

/** @param {{ boss_url: string, port: number }} settings */
export async function open({ boss_url, port }) {
  const boss = new pg_boss.PgBoss({ connectionString: boss_url, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("noop");
  await boss.stop({ graceful: false });
  const name = "@pg-boss/proxy/node";
  const { createProxyServerNode } = await import(name);
  const opened = await createProxyServerNode({
    port,
    hostname: "127.0.0.1",
    requestLogger: false,
    attachSignals: false,
    options: { connectionString: boss_url, max: 10 },
  });
  await opened.start();
  proxy = opened;
  return { url: `http://127.0.0.1:${port}` };
}

export async function close() {
  await proxy?.stop();
}
