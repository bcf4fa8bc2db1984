import { Command } from "commander";
import { ask } from "../asking/ask-team";
import { connect, type ConnectionFlags } from "../credentials/connection";
import type { Io } from "../io";
import { findSession } from "../service/find-session";
import { compactSession } from "../service/session-calls";
import { SESSION_ARGUMENT, toSeconds, toSessionReference, toTokens, toUsd } from "./arguments";
import {
  type LimitFlags,
  type OutputFlags,
  type Register,
  toLimits,
  toOutput,
  withConnection,
  withOutput,
} from "./flags";

type CompactFlags = ConnectionFlags & OutputFlags & LimitFlags;

/** `compact`: summarises the conversation of a session, and prints the summary. */
export const registerCompact: Register = (program, { io, end }) => {
  const command = withOutput(withConnection(new Command("compact")))
    .description("summarise the conversation so far; later turns read the summary in its place")
    .argument("[session]", `${SESSION_ARGUMENT} (default: last)`, toSessionReference)
    .option("--orchestrator-timeout <s>", "time limit of the turn, in seconds", toSeconds)
    .option("--max-cost <usd>", "cost limit of the turn, in US dollars", toUsd)
    .option("--max-tokens <n>", "token limit of the turn", toTokens)
    .action(async (reference: string | undefined, flags: CompactFlags) =>
      end(await compact(reference, flags, io)),
    );
  program.addCommand(command);
};

async function compact(reference = "last", flags: CompactFlags, io: Io) {
  const output = toOutput(flags);
  const context = await connect(flags, io);
  const attach = await findSession(reference, context, io);
  const { budget, timeout_seconds } = toLimits(flags);
  const body = {
    ...(budget && { budget }),
    ...(timeout_seconds !== undefined && { timeout_seconds }),
  };
  const { turn } = await compactSession({ session: attach, body }, context);
  return (await ask({ target: { attach, turn }, context, output }, io)).exitCode;
}
