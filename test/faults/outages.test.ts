// Every call ends: what the callers of a server see while its database is out of reach, and nobody says so. The server is not
// restarted, and its process is always alive.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, type TestContext, test } from "vitest";
import { CalledService, type Outage } from "./called_service.js";
import { noNamespaces, TwoWays } from "./namespaces.js";
import { TcpProxy } from "./proxy.js";

const rounds = Number(process.env.FANFOLD_TEST_SOAK || 1);
const timeout = 60_000 + rounds * 60_000;
const why_not = noNamespaces();

async function opened({ onTestFinished }: TestContext): Promise<CalledService> {
  const service = await CalledService.open();
  onTestFinished(() => service.close());
  return service;
}

async function throughProxy({ onTestFinished }: TestContext, service: CalledService): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(Number(new URL(service.database.url).port));
  onTestFinished(() => proxy.close());
  await service.start(`127.0.0.1:${proxy.port}`);
  return proxy;
}

function tell(name: string, round: number, outage: Outage): void {
  const { calls, refused, longest_ms, well_after_ms } = outage;
  const figures = `${calls} calls, ${refused} refused, longest ${longest_ms} ms, well after ${well_after_ms} ms`;
  process.stdout.write(`[outages] ${name} ${round}/${rounds}: ${figures}\n`);
}

describe.concurrent("every call ends during", () => {
  test.skipIf(why_not !== null)(
    `a failover to another address, the old host dark${why_not === null ? "" : ` (${why_not})`}`,
    { timeout },
    async (context) => {
      const service = await opened(context);
      const ways = await TwoWays.open(service.database.url);
      context.onTestFinished(() => ways.close());
      await service.start("dbhost:5432", (command) => ways.on(command));
      for (let round = 1; round <= rounds; round++) {
        const [from, to] = round % 2 === 1 ? (["a", "b"] as const) : (["b", "a"] as const);
        ways.mend(to);
        const outage = await service.during(() => {
          ways.cut(from);
          ways.point(to);
        });
        tell("failover", round, outage);
        service.expectAnswered(outage);
      }
    },
  );

  test("a network that loses what was sent for five seconds, and goes on", { timeout }, async (context) => {
    const service = await opened(context);
    const proxy = await throughProxy(context, service);
    for (let round = 1; round <= rounds; round++) {
      const outage = await service.during(async () => {
        expect(proxy.lose()).toBeGreaterThan(0);
        await sleep(5_000);
        proxy.heal();
      });
      tell("lost bytes", round, outage);
      expect(outage.refused).toBeGreaterThan(0);
      service.expectAnswered(outage);
    }
  });

  test.skipIf(rounds === 1)(
    "a proxy that loses pieces of what passes: nobody gets the answer of another, and nothing breaks",
    {
      timeout,
    },
    async (context) => {
      const service = await opened(context);
      const proxy = await throughProxy(context, service);
      for (let round = 1; round <= rounds; round++) {
        const outage = await service.during(async () => {
          let pieces = 0;
          proxy.losePieces(() => ++pieces % 97 === 0);
          await sleep(3_000);
          proxy.heal();
        });
        tell("lost pieces", round, outage);
        service.expectAnswered(outage);
      }
    },
  );
});
