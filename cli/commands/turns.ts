import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { findSession } from "../service/find-session";
import { escapeJson } from "../terminal/sanitize";
import { printTree } from "../tree/print-tree";
import { printMoved } from "../tree/pull-after-move";
import { moveHead, readTree } from "../tree/read-tree";
import { SESSION_ARGUMENT, toSessionReference, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";

type TreeFlags = ConnectionFlags & { json?: true };

/** `turns`: draws the turns of a session as a tree. */
export const registerTurns: Register = (program, { io, end }) => {
  const command = withConnection(new Command("turns"))
    .description(
      "draw the turns of a session as a tree; * marks the turn that the next one follows",
    )
    .argument("[session]", `${SESSION_ARGUMENT} (default: last)`, toSessionReference)
    .option("--json", "print the turns as JSON")
    .action(async (reference: string | undefined, flags: TreeFlags) =>
      end(await draw(reference, flags, io)),
    );
  program.addCommand(command);
};

async function draw(reference = "last", flags: TreeFlags, io: Io): Promise<ExitCode> {
  const context = await connect(flags, io);
  const { data, raw } = await readTree(await findSession(reference, context, io), context);
  if (flags.json) io.stdout.write(`${escapeJson(raw)}\n`);
  else printTree(data, io.stdout, io);
  return EXIT.ok;
}

/** `continue-from`: moves the head of a session to a turn. */
export const registerContinueFrom: Register = (program, { io, end }) => {
  const command = withConnection(new Command("continue-from"))
    .description("choose the turn that the next question follows; changes no file")
    .argument("<turn>", "the turn's number", toTurn)
    .argument("[session]", `${SESSION_ARGUMENT} (default: last)`, toSessionReference)
    .option("--json", "print the response as JSON")
    .action(async (turn: number, reference: string | undefined, flags: TreeFlags) =>
      end(await continueFrom({ turn, reference, flags }, io)),
    );
  program.addCommand(command);
};

async function continueFrom(
  { turn, reference = "last", flags }: HeadMove,
  io: Io,
): Promise<ExitCode> {
  const connection = await connect(flags, io);
  const session = await findSession(reference, connection, io);
  const { data, raw } = await moveHead({ session, turn }, connection);
  if (flags.json) io.stdout.write(`${escapeJson(raw)}\n`);
  else await printMoved({ session, turn: data.head }, connection, io);
  return EXIT.ok;
}
type HeadMove = { turn: number; reference: string | undefined; flags: TreeFlags };
