// What the dialogs about a job, its stages, error groups and tasks have in common.
import { useQueryClient } from "@tanstack/react-query";

export interface Asked {
  dry_run: boolean;
  reason: string | undefined;
}

export const bodyOf = ({ dry_run, reason }: Asked) => ({ dry_run, reason });

/** What is on the page is read again once something was done. */
export function useReadAgain(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries();
}
