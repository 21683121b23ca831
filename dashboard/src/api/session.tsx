// Who is signed in, and what they may do.
import { createContext, useContext } from "react";
import type { Scope } from "../../../src/core/api/endpoint.js";
import { request } from "./call.js";
import { tellOtherTabs } from "./other_tabs.js";

export interface Session {
  tenant_id: string;
  tenant_name: string | null;
  actor: string;
  /** null: a token of an OpenID provider. */
  key_id: string | null;
  key_name: string | null;
  scopes: Scope[];
  /** Whether the key is an operator's, of the people who run the service. */
  operator: boolean;
  expires_at: string | null;
  version: string;
  /** There is a catalogue. */
  catalog: boolean;
}

export const SessionContext = createContext<Session | null>(null);

/** Only below the frame, where there is one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("no session");
  return session;
}

/** null: it may; else why it may not. */
export function useForbidden(scope: Scope): string | null {
  const { scopes } = useSession();
  return scopes.includes(scope) ? null : `Your key does not have the scope ${scope}.`;
}

/** A whole new page: nothing of this sign-in is left in memory for the next. */
export async function signOut(): Promise<void> {
  await request("DELETE", "/api/session").catch(() => {});
  tellOtherTabs();
  window.location.assign(new URL("sign-in", document.baseURI));
}
