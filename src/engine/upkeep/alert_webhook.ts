// Alerts as calls to an address of the operator's: a chat, a pager, a program. What should not be is told at once, and tried a few times; the log and the
// events have it whatever becomes of the call. Several processes may sweep: each alert is told by the one that raised it.
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Transient } from "../../core/errors/errors.js";
import type { Alert } from "./janitor.js";

const PATIENCE_MS = 5_000;
const WAITS_MS = [1_000, 5_000];
/** A thousand alerts at once would be a flood to whoever hears of them: these wait, the others stay in the log. */
const MOST_UNDER_WAY = 20;

export interface AlertWebhook {
  waits_ms?: readonly number[];
  patience_ms?: number;
}

/** `text` is what chats show. Rejects when it could not be told; whoever raised it logs that. */
export function alertsTo(
  url: string,
  { waits_ms = WAITS_MS, patience_ms = PATIENCE_MS }: AlertWebhook = {},
): (alert: Alert) => Promise<void> {
  let under_way = 0;
  return async (alert) => {
    if (under_way >= MOST_UNDER_WAY)
      throw new Transient(`${MOST_UNDER_WAY} alerts are being told already: look at fanfold alerts`);
    under_way++;
    try {
      const text = `${alert.alert}: ${alert.reason} (tenant ${alert.tenant_id}${alert.job_id === null ? "" : `, job ${alert.job_id}`})`;
      const told = {
        type: `alert.${alert.alert}`,
        timestamp: new Date().toISOString(),
        host: hostname(),
        text,
        ...alert,
      };
      const body = JSON.stringify(told);
      for (let tried = 0; ; tried++) {
        const why = await tell(url, body, patience_ms);
        if (why === null) return;
        const wait_ms = waits_ms[tried];
        if (wait_ms === undefined) throw new Transient(`the address for alerts ${why}`);
        await sleep(wait_ms, undefined, { ref: false });
      }
    } finally {
      under_way--;
    }
  };
}

/** null: it was taken. */
async function tell(url: string, body: string, patience_ms: number): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(patience_ms);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" });
    await answer.body?.cancel();
    return answer.ok ? null : `answers ${answer.status}`;
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    return `does not answer (${cause ?? (error as Error).message})`;
  }
}
