import { Command } from "commander";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { EXIT, type ExitCode } from "../exit-codes";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import { listSessions, type Page } from "../service/listings";
import type { SessionList } from "../service/schema";
import { escapeJson } from "../terminal/sanitize";
import { formatTime, printTable } from "../terminal/table";
import { toLimit, toSessionId } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { limit?: number; after?: string; all?: true; json?: true };

const DEFAULT_LIMIT = 20;
/** The most that the service gives at a time. */
const MOST_LIMIT = 100;

/** `sessions`: the newest first. */
export const registerSessions: Register = (program, { io, end }) => {
  const command = withConnection(new Command("sessions"))
    .description("list sessions, newest first")
    .option("--limit <n>", `how many, up to ${MOST_LIMIT} (default: ${DEFAULT_LIMIT})`, toLimit)
    .option("--after <session>", "list entries after this one", toSessionId)
    .option("--all", "list all pages")
    .option("--json", "print the service's answer, a line for each page")
    .action(async (flags: Flags) => end(await list(flags, io)));
  program.addCommand(command);
};

async function list({ all, json, after, ...flags }: Flags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  const limit = flags.limit ?? (all ? MOST_LIMIT : DEFAULT_LIMIT);
  let page: Page | null = { limit, ...(after === undefined ? {} : { after }) };
  while (page !== null) {
    const { data, raw } = await listSessions(page, connection);
    const next = nextPage(page, data);
    if (json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
    else if (data.data.length > 0 || page.after === undefined) printSessions(data, io);
    if (!all && !json) tellMore(next, connection, io);
    page = all ? next : null;
  }
  return EXIT.ok;
}

/** Null at the end of the list, or where it does not get on. */
function nextPage({ limit, after }: Page, { data, has_more }: SessionList): Page | null {
  const last = data.at(-1);
  return has_more && last && last.id !== after ? { limit, after: last.id } : null;
}

/** A line for each. */
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

function tellMore(next: Page | null, { server }: Connection, { stderr }: Pick<Io, "stderr">): void {
  if (next?.after === undefined || stderr.isTTY !== true) return;
  const limit = next.limit === DEFAULT_LIMIT ? [] : ["--limit", String(next.limit)];
  stderr.write(`More: ${commandAt(server, "sessions", ...limit, "--after", next.after)}\n`);
}
