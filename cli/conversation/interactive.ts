import { type AskTarget, ask } from "../asking/ask-team";
import { refuseLikelyCommandEntry } from "../commands/likely-commands";
import type { Connection } from "../credentials/connection";
import { again, type Conversation, type LatestQuestion, nextTurn } from "./conversation";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Limits } from "../commands/flags";
import { commandLineOf } from "../invocation";
import type { Io } from "../io";
import { readEntry, type EditorInput } from "../terminal/line-editor";
import type { OutputOptions } from "../asking/answer-output";
import { toQuestion } from "../asking/question";
import { PASTE_MODE } from "../terminal/paste";
import { asCommand, bareCommand, complete, type Outcome, perform } from "./slash-commands";
import type { TeamChoice } from "../asking/team-choice";
import { canRedraw } from "../terminal/output";
import { printAttached } from "../uploads/uploads";

type ConverseOptions = {
  team: TeamChoice;
  connection: Connection;
  limits: Limits;
  output: OutputOptions;
};

/** A conversation at a terminal: each entry is the next turn of one session. */
export async function converse(
  { team, connection, limits, output }: ConverseOptions,
  io: Io,
): Promise<ExitCode> {
  const conversation: Conversation = {
    team,
    connection,
    limits,
    output,
    session: null,
    latest: null,
    attached: [],
  };
  io.stderr.write(
    `massgen-edge at ${connection.server}, asking ${team.described}. /help lists commands, /quit leaves.\n`,
  );
  printAttached(team.attached, io);
  const canMark = canRedraw(io.stderr, io.env);
  // also on during a turn: the next prompt reads text that is pasted meanwhile
  if (canMark) io.screen.write(PASTE_MODE.on);
  try {
    await untilLeft(conversation, io);
  } finally {
    if (canMark) io.screen.write(PASTE_MODE.off);
  }
  return leave(conversation, io);
}

async function untilLeft(conversation: Conversation, io: Io): Promise<void> {
  const history: string[] = [];
  let interrupts = 0;
  for (;;) {
    io.stderr.write("\n");
    const typed = await readEntry({
      input: io.stdin,
      output: io.screen,
      prompt: "> ",
      history,
      complete,
    });
    interrupts = typed.kind === "interrupt" ? interrupts + 1 : 0;
    if (typed.kind === "interrupt" && interrupts < 2) {
      io.stderr.write("\nPress Ctrl+C again to leave, or ask the next question.\n");
      continue;
    }
    if (typed.kind !== "text" || (await handled(typed, conversation, io)) === "quit") return;
  }
}

function leave({ session, latest }: Conversation, io: Io): ExitCode {
  if (session !== null)
    io.stderr.write(
      `\nTo read the session: ${commandLineOf("show", session, ...(latest?.turn ? [String(latest.turn)] : []))}\n`,
    );
  return EXIT.ok;
}

/** Handles one entry. An error ends the question, not the conversation. */
async function handled(
  typed: Extract<EditorInput, { kind: "text" }>,
  conversation: Conversation,
  io: Io,
): Promise<"quit" | "continue"> {
  try {
    const outcome = await dispatch(typed.text, conversation, io);
    if (outcome === "quit") return "quit";
    if (outcome === "retry") await askAgain(conversation, io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    io.stderr.write(`${error.message}\n`);
  }
  return "continue";
}

async function dispatch(text: string, conversation: Conversation, io: Io): Promise<Outcome> {
  if (text.trim() === "") return "done";
  const command = asCommand(text);
  if (command !== null) return perform(command, conversation, io);
  const bare = bareCommand(text);
  if (bare !== null)
    throw new CliError(
      EXIT.config,
      `Did you mean ${bare}? To ask it as a question, put it in quotes.`,
    );
  if (conversation.session === null) refuseLikelyCommandEntry(text);
  const question = toQuestion(text.startsWith("//") ? text.slice(1) : text);
  const target = nextTurn(conversation, question);
  const parent = conversation.session === null ? null : (conversation.latest?.turn ?? null);
  const { attached } = conversation;
  conversation.attached = [];
  await runTurn(target, { question, parent, attached }, { conversation, io });
  return "done";
}

async function askAgain(conversation: Conversation, io: Io): Promise<void> {
  const target = again(conversation);
  if (target === null || conversation.latest === null)
    throw new CliError(EXIT.config, "No question was asked yet.");
  const { question, parent, attached } = conversation.latest;
  await runTurn(target, { question, parent, attached }, { conversation, io });
}

type Question = Omit<LatestQuestion, "turn">;

async function runTurn(
  what: AskTarget,
  question: Question,
  { conversation, io }: { conversation: Conversation; io: Io },
): Promise<void> {
  const { connection, team, output } = conversation;
  conversation.latest = { ...question, turn: null };
  const { place } = await ask(
    { what, context: { ...connection, config: team.source }, output },
    io,
  );
  conversation.session = place.sessionId;
  conversation.latest = { ...question, turn: place.turn };
}
