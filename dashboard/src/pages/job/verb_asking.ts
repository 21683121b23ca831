// What the dialogs about a job, its stages, error groups and tasks have in common.
import { useQueryClient } from "@tanstack/react-query";
import type { Commands } from "../../api/commands.js";

export interface Asked {
  dry_run: boolean;
  reason: string | undefined;
}

export const bodyOf = ({ dry_run, reason }: Asked) => ({ dry_run, ...(reason === undefined ? {} : { reason }) });

/** What is on the page is read again once something was done. */
export function useReadAgain(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries();
}

export function shown(commands: (reason: string | undefined) => Commands) {
  return {
    cli: (reason: string | undefined) => commands(reason).cli,
    curl: (reason: string | undefined) => commands(reason).curl,
  };
}
