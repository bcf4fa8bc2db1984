import { Command } from "commander";
import { toLimit, toSessionId } from "../arguments";
import { type ConnectionFlags, connect } from "../connection";
import { EXIT } from "../exit-codes";
import { withConnection } from "../flags";
import { commandLineOf } from "../invocation";
import type { Io } from "../io";
import { listSessions } from "../listings";
import { escapeJson } from "../sanitize";
import type { SessionList } from "../schema";
import { formatTime, printTable } from "../table";
import type { Register } from "./register";

type Flags = ConnectionFlags & { limit: number; after?: string; json?: true };

/** `sessions`: the newest first. */
export const registerSessions: Register = (program, { io, end }) => {
  const command = withConnection(new Command("sessions"))
    .description("list sessions, newest first")
    .option("--limit <n>", "how many, up to 100", toLimit, 20)
    .option("--after <session>", "go on after this one", toSessionId)
    .option("--json", "print the service's answer")
    .action(async (flags: Flags) => {
      const { data, raw } = await listSessions(flags, await connect(flags, io));
      if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
      else printSessions(data, io);
      end(EXIT.ok);
    });
  program.addCommand(command);
};

/** A line for each, and on a terminal how to see more. */
export function printSessions({ data, has_more }: SessionList, { stdout, stderr }: Pick<Io, "stdout" | "stderr">): void {
  if (data.length === 0) stderr.write("There are no sessions yet.\n");
  else {
    const rows = data.map(({ id, created_at, question_preview }) => [id, formatTime(created_at * 1000), question_preview]);
    printTable(["session", "started", "question"], rows, stdout);
  }
  const last = data.at(-1);
  if (has_more && last && stderr.isTTY) stderr.write(`More: ${commandLineOf("sessions", "--after", last.id)}\n`);
}
