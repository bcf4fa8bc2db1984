import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { readQueue, resumeQueue } from "../queue/queue-calls";
import { queuePage } from "../queue/queue-lines";
import { removeAt } from "../queue/remove-queued";
import { findSession } from "../service/find-session";
import { printLines } from "../terminal/output";
import { escapeJson } from "../terminal/sanitize";
import { SESSION_ARGUMENT, toPosition, toSessionReference } from "./arguments";
import { type Register, withConnection } from "./flags";

type QueueFlags = ConnectionFlags & { json?: true; resume?: true; remove?: number };

/** `queue`: shows the questions that wait for the running turn; removes one, or resumes a queue. */
export const registerQueue: Register = (program, { io, end }) => {
  const command = withConnection(new Command("queue"))
    .description("show the questions that wait while a turn runs; resume them, or remove one")
    .argument("[session]", `${SESSION_ARGUMENT} (default: last)`, toSessionReference)
    .option("--resume", "resume a queue that a cancelled or failed turn holds")
    .option("--remove <position>", "remove the question at this position", toPosition)
    .option("--json", "print the queue as JSON")
    .action(async (reference: string | undefined, flags: QueueFlags) =>
      end(await runQueue(reference, flags, io)),
    );
  program.addCommand(command);
};

async function runQueue(reference = "last", flags: QueueFlags, io: Io): Promise<ExitCode> {
  if (flags.resume && flags.remove !== undefined)
    throw new CliError(EXIT.config, "Use only one of --resume and --remove.");
  const context = await connect(flags, io);
  const session = await findSession(reference, context, io);
  if (flags.remove !== undefined)
    io.stderr.write(`${await removeAt(session, flags.remove, context)}\n`);
  const { data, raw } = await (flags.resume
    ? resumeQueue(session, context)
    : readQueue(session, context));
  if (flags.json) io.stdout.write(`${escapeJson(raw)}\n`);
  else printLines(queuePage(data), io);
  return EXIT.ok;
}
