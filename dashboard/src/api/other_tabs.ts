// Tells the browser's other tabs that another is signed in now, or nobody: they share the cookie, and must not go on showing what was
// another's.
import { base_path } from "../routes.js";

const name = `fanfold sign-in ${base_path}`;

export function tellOtherTabs(): void {
  const channel = new BroadcastChannel(name);
  channel.postMessage("changed");
  channel.close();
}

/** Returns how to stop listening. */
export function whenSignInChanges(listener: () => void): () => void {
  const channel = new BroadcastChannel(name);
  channel.onmessage = listener;
  return () => channel.close();
}
