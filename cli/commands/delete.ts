import { Command } from "commander";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { eraseSession, sessionStatus } from "../service/sessions";
import { askYes } from "../terminal/prompts";
import { toLine } from "../terminal/sanitize";
import { fitStart } from "../terminal/text-width";
import { toSessionId } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { yes?: true };
/** Enough of a question to recognise it. */
const MOST_QUESTION_COLUMNS = 60;

/** `delete`: erases a session. */
export const registerDelete: Register = (program, { io, end }) => {
  const command = withConnection(new Command("delete"))
    .description("stop a session and erase all its data permanently")
    .argument("<session>", "the session's id", toSessionId)
    .option("--yes", "do not ask")
    .action(async (sessionId: string, flags: Flags) => end(await erase(sessionId, flags, io)));
  program.addCommand(command);
};

async function erase(sessionId: string, flags: Flags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  if (flags.yes === undefined) await confirm(sessionId, connection, io);
  await eraseSession(sessionId, connection);
  io.stdout.write(`Session ${sessionId} is erased.\n`);
  return EXIT.ok;
}

/** Shows what would be lost. Throws CliError unless they want that. */
async function confirm(sessionId: string, connection: Connection, io: Io): Promise<void> {
  if (!isInteractive(io))
    throw new CliError(EXIT.config, "No terminal to confirm at. Add --yes to erase the session.");
  const { data } = await sessionStatus(sessionId, connection);
  const question = toLine(data.meta?.question ?? "");
  const what = question === "" ? "" : ` "${fitStart(question, MOST_QUESTION_COLUMNS)}"`;
  const running = data.turns.some(({ status }) => status === "running")
    ? ", one of them running"
    : "";
  const asked = `Erase ${sessionId}${what}, ${plural(data.turns.length, "turn")}${running}, for good?`;
  if (!(await askYes(asked, io))) throw new CliError(EXIT.interrupted, "Nothing was changed.");
}
