// The next page of a list that is read page by page, where there is one.
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
