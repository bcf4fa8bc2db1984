import { Command } from "commander";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { forgetSession } from "../credentials/last-session";
import { EXIT, type ExitCode, CliError } from "../exit-codes";
import { commandAt } from "../invocation";
import { type Io, isInteractive } from "../io";
import { listSessions, type Page } from "../service/listings";
import type { SessionList, CancelResult } from "../service/schema";
import { escapeJson, toLine } from "../terminal/sanitize";
import { formatTime, printTable, block } from "../terminal/output";
import { SESSION_ARGUMENT, toLabel, toLimit, toSessionReference, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";
import { printTurn } from "../display/print-turn";
import { findSession } from "../service/find-session";
import {
  answerText,
  latestTurn,
  turnFacts,
  cancelRun,
  eraseSession,
  sessionStatus,
} from "../service/session-calls";
import { plural } from "../../src/describe/figures";
import { askYes } from "../terminal/prompts";
import { fitStart } from "../terminal/text-width";

type ListFlags = ConnectionFlags & { limit?: number; after?: string; all?: true; json?: true };

const DEFAULT_LIMIT = 20;
/** Most sessions per page of the service. */
const MAX_LIMIT = 100;

/** `sessions`: lists sessions, newest first. */
export const registerSessions: Register = (program, { io, end }) => {
  const command = withConnection(new Command("sessions"))
    .description("list sessions, newest first")
    .option("--limit <n>", `how many, up to ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, toLimit)
    .option("--after <session>", "list entries after this one", toSessionReference)
    .option("--all", "list all pages")
    .option("--json", "print the response as JSON, a line for each page")
    .action(async (flags: ListFlags) => end(await list(flags, io)));
  program.addCommand(command);
};

async function list({ all, json, after, ...flags }: ListFlags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  const limit = flags.limit ?? (all ? MAX_LIMIT : DEFAULT_LIMIT);
  const start = after === undefined ? undefined : await findSession(after, connection, io);
  let page: Page | null = { limit, ...(start === undefined ? {} : { after: start }) };
  while (page !== null) {
    const { data, raw } = await listSessions(page, connection);
    const next = nextPage(page, data);
    if (json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
    else if (data.data.length > 0 || page.after === undefined) printSessions(data, io);
    if (!all && !json) printNextPageHint(next, connection, io);
    page = all ? next : null;
  }
  return EXIT.ok;
}

/**
 * The request for the next page; `null` at the end of the list, or if the service repeats a page.
 */
function nextPage({ limit, after }: Page, { data, has_more }: SessionList): Page | null {
  const last = data.at(-1);
  return has_more && last && last.id !== after ? { limit, after: last.id } : null;
}

/** Prints one line per session. */
export function printSessions(
  { data }: SessionList,
  { stdout, stderr }: Pick<Io, "stdout" | "stderr">,
): void {
  if (data.length === 0) stderr.write("No sessions yet.\n");
  else {
    const rows = data.map(({ id, created_at, question_preview }) => [
      id,
      formatTime(created_at * 1000),
      question_preview,
    ]);
    printTable(["session", "started", "question"], rows, stdout);
  }
}

function printNextPageHint(
  next: Page | null,
  connection: Connection,
  { stderr }: Pick<Io, "stderr">,
): void {
  if (next?.after === undefined || stderr.isTTY !== true) return;
  const limit = next.limit === DEFAULT_LIMIT ? [] : ["--limit", String(next.limit)];
  stderr.write(`More: ${commandAt(connection, "sessions", ...limit, "--after", next.after)}\n`);
}

type ShowFlags = ConnectionFlags & { json?: true; answer?: string };

/** `show`: prints a turn. */
export const registerShow: Register = (program, { io, end }) => {
  const command = withConnection(new Command("show"))
    .description("show a session's latest turn, or another: question, answer, votes, cost")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .argument("[turn]", "the turn's number", toTurn)
    .option("--answer <label>", "print one answer, such as agent2.1 or agent2.final", toLabel)
    .option("--json", "print the response as JSON")
    .action(async (reference: string, requested: number | undefined, flags: ShowFlags) => {
      const context = await connect(flags, io);
      const sessionId = await findSession(reference, context, io);
      const turn = requested ?? (await latestTurn(sessionId, context));
      if (flags.answer !== undefined) {
        const { data, raw } = await answerText({ sessionId, turn, label: flags.answer }, context);
        io.stdout.write(`${flags.json ? escapeJson(raw.trim()) : block(data.content)}\n`);
      } else {
        const { data, raw } = await turnFacts(sessionId, turn, context);
        if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
        else await printTurn(data, context, io);
      }
      end(EXIT.ok);
    });
  program.addCommand(command);
};

/** `cancel`: stops the running turn of a session. */
export const registerCancel: Register = (program, { io, end }) => {
  const command = withConnection(new Command("cancel"))
    .description("cancel a session's running turn")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .option("--json", "print the response as JSON")
    .action(async (reference: string, flags: ConnectionFlags & { json?: true }) => {
      const context = await connect(flags, io);
      const sessionId = await findSession(reference, context, io);
      const { data, raw } = await cancelRun(sessionId, context);
      io.stdout.write(`${flags.json ? escapeJson(raw.trim()) : cancelMessage(data)}\n`);
      end(EXIT.ok);
    });
  program.addCommand(command);
};

/** The message about the result of a cancellation. */
export function cancelMessage({ turn, status }: CancelResult): string {
  const turnName = turn === undefined ? "The turn" : `Turn ${turn}`;
  if (status === undefined || status === "cancelled") return `${turnName} is cancelled.`;
  return status === "running"
    ? `${turnName} is being cancelled.`
    : `${turnName} had already ended: ${toLine(status)}.`;
}

type EraseFlags = ConnectionFlags & { yes?: true };
/** Most columns of the question in the request for confirmation. */
const MAX_QUESTION_COLUMNS = 60;

/** `delete`: erases a session. */
export const registerDelete: Register = (program, { io, end }) => {
  const command = withConnection(new Command("delete"))
    .description("stop a session and erase all its data permanently")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .option("--yes", "do not ask")
    .action(async (reference: string, flags: EraseFlags) => end(await erase(reference, flags, io)));
  program.addCommand(command);
};

async function erase(reference: string, flags: EraseFlags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  const sessionId = await findSession(reference, connection, io);
  if (flags.yes === undefined) await confirm(sessionId, connection, io);
  await eraseSession(sessionId, connection);
  await forgetSession(connection.server, sessionId, io);
  io.stdout.write(`Session ${sessionId} is erased.\n`);
  return EXIT.ok;
}

/**
 * Asks the user to confirm that the session is erased. Throws CliError unless the user confirms.
 */
async function confirm(sessionId: string, connection: Connection, io: Io): Promise<void> {
  if (!isInteractive(io))
    throw new CliError(EXIT.config, "No terminal to confirm at. Add --yes to erase the session.");
  const { data } = await sessionStatus(sessionId, connection);
  const question = toLine(data.meta?.question ?? "");
  const quotedQuestion = question === "" ? "" : ` "${fitStart(question, MAX_QUESTION_COLUMNS)}"`;
  const running = data.turns.some(({ status }) => status === "running")
    ? ", one of them running"
    : "";
  const prompt = `Erase ${sessionId}${quotedQuestion}, ${plural(data.turns.length, "turn")}${running}, permanently?`;
  if (!(await askYes(prompt, io))) throw new CliError(EXIT.interrupted, "Nothing was changed.");
}
