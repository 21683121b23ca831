// The next page of a list that is read page by page, where there is one: shown below the others, or in their place.
import type { ReactNode } from "react";
import { Button } from "./button.js";

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

export function More({ of, children }: { of: Paged; children: ReactNode }) {
  if (!of.hasNextPage) return null;
  return (
    <Button busy={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
      {children}
    </Button>
  );
}

interface TurnProps {
  page: { next: string | null } | undefined;
  /** Where the page that is shown begins. */
  cursor?: string;
  onTurn(cursor: string): void;
  first?: string;
  next: string;
}

export function Turn({ page, cursor = "", onTurn, first, next }: TurnProps) {
  const following = page?.next ?? null;
  if (cursor === "" && following === null) return null;
  return (
    <div className="row">
      {cursor !== "" && <Button onClick={() => onTurn("")}>{first}</Button>}
      {following !== null && <Button onClick={() => onTurn(following)}>{next}</Button>}
    </div>
  );
}
