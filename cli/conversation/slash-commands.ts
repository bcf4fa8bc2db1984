import type { ConflictSide } from "../../src/protocol/api/contexts";
import { ask } from "../asking/ask-team";
import { cancelRun, latestTurn, sessionStatus, turnFacts } from "../service/session-calls";
import { cancelMessage, printSessions } from "../commands/sessions";
import { printLines } from "../terminal/output";
import { type Conversation, sessionOf } from "./conversation";
import { cat, diff, files, save } from "./file-commands";
import { interrupt, queue } from "./queued-questions";
import { config, model } from "./team-commands";
import { branch, compact, continueFrom, turnNumber, turns, undo } from "./tree-commands";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { listSessions } from "../service/listings";
import { toLine } from "../terminal/sanitize";
import { readUploads, printAttached } from "../uploads/uploads";
import { printTurn } from "../display/print-turn";
import { sessionLinesOf } from "../display/turn-page";
import { findSession } from "../service/find-session";

/**
 * The next step of the conversation after a command. `winner`: the question that conflicts refused
 * is asked again, and this side wins. `repeat`: the question of this turn is asked again. `branch`:
 * the question is asked after this turn. `follow`: the turns of the questions that wait are
 * followed.
 */
export type Outcome =
  | "done"
  | "retry"
  | "quit"
  | "follow"
  | { winner: ConflictSide }
  | { repeat: number }
  | { branch: number; question: string };
type SlashCommand = { name: string; argument: string };

type CommandHandler = (conversation: Conversation, io: Io, argument: string) => Promise<Outcome>;
type CommandEntry = { usage: string; meaning: string; perform: CommandHandler };

/** Commands of the conversation, in the order in which /help lists them. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  help: { usage: "/help", meaning: "this list", perform: help },
  status: { usage: "/status", meaning: "what the session does now", perform: status },
  show: { usage: "/show [turn]", meaning: "a turn: question, answer, votes, cost", perform: show },
  turns: {
    usage: "/turns",
    meaning: "the tree of turns; * is what the next question follows",
    perform: turns,
  },
  undo: { usage: "/undo", meaning: "go back to the turn before; files stay", perform: undo },
  "continue-from": {
    usage: "/continue-from <turn>",
    meaning: "the next question follows this turn; files stay",
    perform: continueFrom,
  },
  branch: {
    usage: "/branch <turn> <text>",
    meaning: "ask a question after this turn",
    perform: branch,
  },
  compact: {
    usage: "/compact",
    meaning: "summarise the conversation so far for later turns",
    perform: compact,
  },
  files: {
    usage: "/files [turn]",
    meaning: "the files of the latest turn, or of another",
    perform: files,
  },
  diff: {
    usage: "/diff [from] [to]",
    meaning: "changes of the latest turn, or between two points",
    perform: diff,
  },
  cat: { usage: "/cat <file>", meaning: "print a file of the latest turn's result", perform: cat },
  save: {
    usage: "/save [folder]",
    meaning: "save files (default: out), also with --skip-conflicts",
    perform: save,
  },
  retry: {
    usage: "/retry [turn]",
    meaning: "ask the last question again, or a turn's",
    perform: retry,
  },
  conflicts: {
    usage: "/conflicts <side>",
    meaning: "ask the refused question again; turn or upload wins",
    perform: conflicts,
  },
  queue: {
    usage: "/queue [remove <n>]",
    meaning: "questions that wait for the running turn; /queue resume",
    perform: queue,
  },
  interrupt: {
    usage: "/interrupt <text>",
    meaning: "cancel the running turn and ask this next",
    perform: interrupt,
  },
  cancel: { usage: "/cancel", meaning: "cancel the running turn", perform: cancel },
  attach: {
    usage: "/attach [session]",
    meaning: "watch the running turn, or continue another session",
    perform: attach,
  },
  file: {
    usage: "/file <path>",
    meaning: "attach it to the next question; without path: detach all",
    perform: file,
  },
  sessions: { usage: "/sessions", meaning: "the newest sessions", perform: sessions },
  new: {
    usage: "/new",
    meaning: "start a new session with the next question",
    perform: startNewSession,
  },
  config: {
    usage: "/config [file|name]",
    meaning: "show the team, or let another answer from now on",
    perform: config,
  },
  model: {
    usage: "/model <model>",
    meaning: "let one model alone answer from now on",
    perform: model,
  },
  quit: {
    usage: "/quit",
    meaning: "leave; also Ctrl+D, or Ctrl+C twice",
    perform: async () => "quit",
  },
};
const ALIASES: Readonly<Record<string, string>> = {
  exit: "quit",
  q: "quit",
  h: "help",
  "?": "help",
  clear: "new",
  reset: "new",
};

/**
 * Parses a command with its slash; `null` if `text` is a question. A question may also begin with a
 * slash: with a path, or with two slashes. Several lines are a command only if its argument is a
 * question.
 */
export function parseCommand(text: string): SlashCommand | null {
  const [, typed, argument = ""] =
    /^\/([a-z?]+(?:-[a-z]+)*)(?:[^\S\n]+(.*))?\s*$/is.exec(text.trimEnd()) ?? [];
  if (typed === undefined) return null;
  const name = typed.toLowerCase();
  const takesQuestion = commandNamed(name)?.usage.endsWith("<text>") ?? false;
  return argument.includes("\n") && !takesQuestion ? null : { name, argument: argument.trim() };
}

/** The command with this name or alias; `undefined` if there is none. */
function commandNamed(name: string): CommandEntry | undefined {
  const fullName = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  return fullName !== undefined && Object.hasOwn(COMMANDS, fullName)
    ? COMMANDS[fullName]
    : undefined;
}

/** The command (`/help`) that `text` names without its slash (`help`); `null` for a question. */
export function commandWithoutSlash(text: string): string | null {
  const name = text.trim().toLowerCase();
  const isCommand =
    name.length > 1 && (Object.hasOwn(COMMANDS, name) || Object.hasOwn(ALIASES, name));
  return isCommand ? `/${ALIASES[name] ?? name}` : null;
}

/** Whether `word` is a command of the conversation, with its slash. */
export const isConversationCommand = (word: string): boolean => {
  const name = parseCommand(word)?.name;
  return name !== undefined && (Object.hasOwn(COMMANDS, name) || Object.hasOwn(ALIASES, name));
};

/** Performs the command. Throws CliError. */
export async function perform(
  { name, argument }: SlashCommand,
  conversation: Conversation,
  io: Io,
): Promise<Outcome> {
  const entry = commandNamed(name);
  if (entry && argument !== "" && !/[[<]/.test(entry.usage))
    throw new CliError(
      EXIT.config,
      `${entry.usage} takes no argument, but has ${toLine(argument)}. Nothing was done.`,
    );
  if (entry) return entry.perform(conversation, io, argument);
  throw new CliError(
    EXIT.config,
    `Unknown command /${toLine(name)}. /help lists the commands. To ask a question that begins with a slash, write two.`,
  );
}

/** Completes a command for the Tab key: the matching commands, and the line that they complete. */
export function complete(line: string): [string[], string] {
  const names = Object.keys(COMMANDS).map((name) => `/${name}`);
  return [line.startsWith("/") ? names.filter((name) => name.startsWith(line)) : [], line];
}

/** Usage and meaning of each command, for the reference page. */
export const slashCommandUsages = (): string[][] =>
  Object.values(COMMANDS).map(({ usage, meaning }) => [usage, meaning]);

async function help(_: Conversation, io: Io): Promise<Outcome> {
  for (const { usage, meaning } of Object.values(COMMANDS))
    io.stderr.write(`  ${usage.padEnd(22)}${meaning}\n`);
  io.stderr.write(
    "  Ctrl+C during a turn detaches from it; a second Ctrl+C cancels it.\n" +
      "  A line that ends in \\ continues on the next line.\n",
  );
  return "done";
}

async function status(conversation: Conversation, io: Io): Promise<Outcome> {
  const session = sessionOf(conversation);
  const { data } = await sessionStatus(session, conversation.connection);
  io.stderr.write(`session  ${session}\n`);
  printLines(sessionLinesOf(data), { stdout: io.stderr, env: io.env });
  return "done";
}

async function show(conversation: Conversation, io: Io, argument: string): Promise<Outcome> {
  const session = sessionOf(conversation);
  const turn =
    argument === ""
      ? await latestTurn(session, conversation.connection)
      : turnNumber(argument, "/show");
  const { data } = await turnFacts(session, turn, conversation.connection);
  await printTurn(data, conversation.connection, io);
  return "done";
}

async function retry(conversation: Conversation, _: Io, argument: string): Promise<Outcome> {
  if (argument === "") return "retry";
  sessionOf(conversation);
  return { repeat: turnNumber(argument, "/retry") };
}

async function conflicts(_: Conversation, _io: Io, argument: string): Promise<Outcome> {
  const side = argument.toLowerCase();
  if (side === "turn" || side === "upload") return { winner: side };
  throw new CliError(
    EXIT.config,
    "Name the side that wins: /conflicts turn, or /conflicts upload for your push",
  );
}

async function cancel(conversation: Conversation, io: Io): Promise<Outcome> {
  const { data } = await cancelRun(sessionOf(conversation), conversation.connection);
  io.stderr.write(`${cancelMessage(data)}\n`);
  return "done";
}

async function attach(conversation: Conversation, io: Io, argument: string): Promise<Outcome> {
  const { connection, output, team } = conversation;
  const session =
    argument === "" ? sessionOf(conversation) : await findSession(argument, connection, io);
  const { place, turn } = await ask(
    { target: { attach: session }, context: { ...connection, config: team.source }, output },
    io,
  );
  if (place.sessionId !== conversation.session) leaveSession(conversation, io);
  conversation.session = place.sessionId;
  conversation.from = null;
  // A turn that only summarises has no question.
  conversation.latest =
    turn && turn.kind === undefined
      ? { question: turn.question, parent: turn.parentTurn, turn: place.turn, attachments: [] }
      : null;
  return "done";
}

/**
 * Forgets what belongs to the session of the conversation, before another one is continued: the
 * user gave the folders of `--with` to this session's team only.
 */
function leaveSession(conversation: Conversation, io: Io): void {
  const { contexts, ...limits } = conversation.limits;
  conversation.aside ??= {
    grants: contexts === undefined ? {} : { contexts },
    folders: conversation.folders,
  };
  conversation.limits = limits;
  conversation.folders = [];
  conversation.refused = null;
  conversation.waiting.length = 0;
  if (contexts !== undefined)
    io.stderr.write(
      "This session keeps its own contexts. To give it a folder, ask with --session and --with.\n",
    );
  if (conversation.teamOfNext !== undefined)
    io.stderr.write("This session keeps its own team. To ask another one: /config <file>\n");
  delete conversation.teamOfNext;
}

async function file(conversation: Conversation, io: Io, argument: string): Promise<Outcome> {
  if (argument === "") {
    conversation.attachments = [];
    io.stderr.write("No files are attached to the next question.\n");
    return "done";
  }
  const others = conversation.attachments.filter(
    (part) => part.type === "text" || part.name !== argument,
  );
  conversation.attachments = [
    ...others,
    ...(await readUploads([{ name: argument, isNamedByUser: true }], io)),
  ];
  printAttached(conversation.attachments, io);
  return "done";
}

async function sessions({ connection }: Conversation, io: Io): Promise<Outcome> {
  const { data } = await listSessions({ limit: 10 }, connection);
  printSessions(data, io);
  return "done";
}

async function startNewSession(conversation: Conversation, io: Io): Promise<Outcome> {
  if (conversation.aside !== null) {
    const { grants, folders } = conversation.aside;
    conversation.limits = { ...conversation.limits, ...grants };
    conversation.folders = folders;
    conversation.aside = null;
  }
  conversation.session = null;
  conversation.from = null;
  conversation.latest = null;
  conversation.refused = null;
  delete conversation.teamOfNext;
  conversation.waiting.length = 0;
  io.stderr.write("The next question starts a new session.\n");
  return "done";
}
