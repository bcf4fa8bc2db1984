import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { EXIT } from "../exit-codes";
import { cancelRun } from "../service/sessions";
import type { CancelResult } from "../service/schema";
import { escapeJson, toLine } from "../terminal/sanitize";
import { toSessionId } from "./arguments";
import { type Register, withConnection } from "./flags";

/** `cancel`: stops the running turn of a session. */
export const registerCancel: Register = (program, { io, end }) => {
  const command = withConnection(new Command("cancel"))
    .description("cancel a session's running turn")
    .argument("<session>", "the session's id", toSessionId)
    .option("--json", "print the service's answer")
    .action(async (sessionId: string, flags: ConnectionFlags & { json?: true }) => {
      const { data, raw } = await cancelRun(sessionId, await connect(flags, io));
      io.stdout.write(`${flags.json ? escapeJson(raw.trim()) : cancelWords(data)}\n`);
      end(EXIT.ok);
    });
  program.addCommand(command);
};

/** The result of a cancellation in words. */
export function cancelWords({ turn, status }: CancelResult): string {
  const which = turn === undefined ? "The turn" : `Turn ${turn}`;
  if (status === undefined || status === "cancelled") return `${which} is cancelled.`;
  return status === "running"
    ? `${which} is being cancelled.`
    : `${which} had already ended: ${toLine(status)}.`;
}
