import { filesLines, withAddresses } from "../files/show-files";
import { listIfPossible } from "../files/result-files";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import type { RequestContext } from "../service/problem";
import type { TurnFacts } from "../service/schema";
import { printLines } from "../terminal/output";
import { turnLinesOf } from "./turn-page";

/**
 * Prints a turn with the names of its files. At a terminal, paths of these files in the answer are
 * addresses.
 */
export async function printTurn(
  turn: TurnFacts,
  context: RequestContext,
  io: Pick<Io, "stdout" | "env">,
): Promise<void> {
  const { session_id: session, turn: number, answer } = turn;
  const place = { session, turn: number };
  const list = answer === null ? null : await listIfPossible(place, context);
  const isLinked = answer !== null && list !== null && io.stdout.isTTY === true;
  const shown = isLinked
    ? { ...turn, answer: withAddresses(answer, list, { place, server: context.server }) }
    : turn;
  printLines(turnLinesOf(shown), io);
  if (list === null) return;
  const command = commandAt(context, "files", session, String(number));
  const width = io.stdout.columns || Number.POSITIVE_INFINITY;
  printLines(filesLines(list, { command, width, label: "files    " }), io);
}
