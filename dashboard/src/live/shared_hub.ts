// The shared worker in which the one stream of a browser lives: its name is the address of the stream.
import { Hub, type ToHub } from "./hub.js";

const scope = globalThis as unknown as { name: string; onconnect: (event: MessageEvent) => void };
const hub = new Hub(scope.name.slice(scope.name.indexOf(" ") + 1));

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  const say = hub.join((message) => port.postMessage(message));
  port.onmessage = ({ data }) => say(data as ToHub);
};
