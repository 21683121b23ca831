// fanfold files prove: whether this machine sees the same files as the others.
import { printable } from "../../../core/values/printable.js";
import { proveFiles } from "../../../engine/upkeep/file_proof.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { exit_codes } from "../../terminal/failure.js";
import { withSession } from "../../terminal/session.js";
import { table } from "../../terminal/summary.js";

const words = {
  same: "as the others",
  first: "no token yet",
  renewed: "the others' from now on",
  other: "another place",
  away: "not known",
} as const;

export function addFilesProve(cli: Cli, files: CliCommand): void {
  files
    .command("prove")
    .summary("whether this machine sees the same files as the others")
    .description(
      "Looks in each place of files for the token that the first worker left there. Servers and workers do so when they start, and do not\n" +
        "start where it is missing. After files have moved to another place, for all: --renew leaves new tokens there. Exits with 1\n" +
        "when a place is another one.",
    )
    .option("--renew", "what this machine sees is from now on the right place")
    .examples("fanfold files prove", "fanfold files prove --renew")
    .action(async ({ renew = false }: { renew?: boolean }) => {
      await withSession(cli, async ({ engine }) => {
        const { db, tenant, zones, shared_store: store } = engine;
        const places = await proveFiles({ db, tenant, zones, store }, { leave: renew, renew });
        if (places.some(({ state }) => state === "other")) cli.exit_code = exit_codes.failed;
        const rows = places.map(({ place, seen_as, state, others, why }) => {
          const also = state === "away" ? `: ${why}` : state === "other" ? `, not ${others?.seen_as}` : "";
          return [place, words[state] + printable(also), printable(seen_as), printable(others?.written_by ?? "")];
        });
        answer(cli, { places }, () => table(["PLACE", "SEEN", "WHERE", "TOKEN OF"], rows, cli.io.width()));
      });
    });
}
