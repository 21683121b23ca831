// The one stream of a browser: what its mark says where the server does not let it follow.
import { expect, test } from "vitest";
import { Hub, type LiveState } from "../../dashboard/src/live/hub.js";
import { scriptedServer } from "../client/scripted_server.js";

function until(hub: Hub, wanted: LiveState): Promise<void> {
  return new Promise((resolve) => {
    hub.join((message) => {
      if (message.type === "state" && message.state === wanted) resolve();
    });
  });
}

test("a key that may not read is told apart from a session that has ended, and neither is asked for again by itself", async () => {
  const server = await scriptedServer({ status: 403 }, { status: 401 });
  const hub = new Hub(`${server.url}/api/stream`);
  await until(hub, "forbidden");
  expect(server.asked).toHaveLength(1);
  // Another tab comes: the key may have got the scope meanwhile.
  await until(hub, "signed_out");
  expect(server.asked).toHaveLength(2);
});
