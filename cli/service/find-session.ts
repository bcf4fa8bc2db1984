import type { Connection } from "../credentials/connection";
import { type Folders, lastSession } from "../credentials/last-session";
import { CliError, EXIT } from "../exit-codes";
import { commandAt } from "../invocation";
import { formatTime } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitStart } from "../terminal/text-width";
import { listSessions } from "./listings";
import type { SessionList } from "./schema";

/** What users write for a session: its id, the beginning of its id, or `last`. */
const REFERENCE = /^[a-z0-9_]{1,64}$/;
const NO_REFERENCE =
  "Session ids look like session_01jd…. Their beginning is enough; `last` is the last session.";
const LAST = "last";
const ID_PREFIX = "session_";
/** From this length on, a text counts as a whole id, which needs no request. */
const WHOLE_ID_CHARS = 32;
/** Length of the longest id, and the character that sorts after all others of an id. */
const [MAX_ID_CHARS, HIGHEST] = [64, "z"];
const MAX_LISTED = 5;
const MAX_QUESTION_COLUMNS = 30;

/** Whether a text can name a session. */
export const isSessionReference = (text: string): boolean => REFERENCE.test(text);

/**
 * The id of the session that a text names. The part `session_` of an id may be omitted. Throws
 * CliError if no session or several sessions have this beginning.
 */
export async function findSession(
  name: string,
  connection: Connection,
  io: Folders,
): Promise<string> {
  const reference = name.trim().toLowerCase();
  if (!isSessionReference(reference)) throw new CliError(EXIT.config, NO_REFERENCE);
  if (reference === LAST) return requireLast(connection, io);
  if (reference.length >= WHOLE_ID_CHARS) return reference;
  const hasPrefix = reference.startsWith(ID_PREFIX) || ID_PREFIX.startsWith(reference);
  const beginning = hasPrefix ? reference : `${ID_PREFIX}${reference}`;
  // The list is sorted by id, newest first, and starts below `after`: this id follows all ids with
  // the beginning.
  const after = beginning.padEnd(MAX_ID_CHARS, HIGHEST);
  const { data } = (await listSessions({ limit: MAX_LISTED + 1, after }, connection)).data;
  const matches = data.filter(({ id }) => id.startsWith(beginning));
  const [first] = matches;
  if (first && matches.length === 1) return first.id;
  const exact = matches.find(({ id }) => id === beginning);
  if (exact) return exact.id;
  throw first ? ambiguous(beginning, matches) : unknown(beginning, connection);
}

async function requireLast(connection: Connection, io: Folders): Promise<string> {
  const session = await lastSession(connection.server, io);
  if (session !== null) return session;
  throw new CliError(
    EXIT.config,
    `This computer knows no last session of ${connection.server}. To list sessions: ${commandAt(connection, "sessions")}`,
  );
}

const unknown = (beginning: string, connection: Connection): CliError =>
  new CliError(
    EXIT.config,
    `No session begins with ${beginning}. To list sessions: ${commandAt(connection, "sessions")}`,
  );

function ambiguous(beginning: string, matches: SessionList["data"]): CliError {
  const lines = matches
    .slice(0, MAX_LISTED)
    .map(
      ({ id, created_at, question_preview }) =>
        `  ${id}  ${formatTime(created_at * 1000)}  ${fitStart(toLine(question_preview), MAX_QUESTION_COLUMNS)}`,
    );
  const more = matches.length > MAX_LISTED ? ["  …"] : [];
  return new CliError(
    EXIT.config,
    [`Several sessions begin with ${beginning}. Write more of the id:`, ...lines, ...more].join(
      "\n",
    ),
  );
}
