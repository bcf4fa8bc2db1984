import { ClientError, isLoopback } from "../../client/index";
import type { Fault, Problem } from "../../src/protocol/api";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { toLine, sanitize } from "../terminal/sanitize";
import { ProblemSchema } from "./schema";
import { commandAt, MODEL_FLAG, shellArgument } from "../invocation";
import { type ConflictAdvice, conflictLines } from "./conflict-lines";
import { widthOf } from "../terminal/text-width";

/**
 * A config's name for messages, and its text, so that errors can show a line. `text` is `null` if
 * the config is no local file.
 */
export type ConfigSource = { name: string; text: string | null };
/**
 * A folder that is pushed to a context. `isLinked`: whether the folder has a note of the context.
 */
export type PushedFolder = { directory: string; name: string; isLinked: boolean };
/**
 * `conflicts`: how to continue after conflicts refused the request; omitted if that is unknown.
 * `push`: the folder of a push; omitted in other requests.
 */
export type RequestContext = Connection & {
  config?: ConfigSource;
  conflicts?: ConflictAdvice;
  push?: PushedFolder;
};

/** Converts a failed call to an error for people. */
export function toCliError(error: ClientError, context: RequestContext): CliError {
  const { server } = context;
  switch (error.kind) {
    case "refused": {
      const { data } = ProblemSchema.safeParse(error.problem);
      if (!data) return unexpectedResponse(error.status, context);
      return new CliError(exitCodeOf(data), describeProblem(data, context), { cause: error });
    }
    case "redirected":
      return error.location === null
        ? unexpectedResponse(error.status, context)
        : new CliError(
            EXIT.config,
            `${server} redirects to ${error.location}. If that is the right service, name it with --server.`,
          );
    case "unexpected":
      return unexpectedResponse(error.status, context);
    case "too_large":
      return new CliError(
        EXIT.execution,
        `${server} sent a larger response than this service ever sends. Check the address.`,
      );
    case "changed_file":
      return new CliError(
        EXIT.execution,
        `${server} sent other contents than announced. Nothing was written. Retry.`,
      );
    case "unsafe_key":
      return new CliError(EXIT.config, error.message);
    case "unreachable":
      return unreachable(`Cannot reach ${server}.`, error, context);
    case "timed_out":
      return unreachable(`${server} accepted the request and did not answer.`, error, context);
    case "interrupted":
      return unreachable(`The connection to ${server} broke during the response.`, error, context);
    case "lost":
      return unreachable(`The connection to ${server} was lost for good.`, error, context);
  }
}

/** Returns the service's refusal with this code; `null` if `error` is another one. */
export function refusalWith(code: string, error: unknown): ClientError | null {
  const cause = error instanceof CliError ? error.cause : null;
  return cause instanceof ClientError && cause.code === code ? cause : null;
}

/** The error for a response that this service never sends. `status`: `null` if it is unknown. */
export const unexpectedResponse = (status: number | null, { server }: Connection): CliError =>
  new CliError(
    EXIT.execution,
    `Unexpected response${status === null ? "" : ` (${status})`} from ${server}. Check the address.`,
  );

function unreachable(summary: string, { cause }: ClientError, { server }: Connection): CliError {
  const remedy = isLoopback(server)
    ? "Start it with `npm start`"
    : "Check the address and your connection";
  return new CliError(EXIT.unreachable, `${summary} ${remedy}, or name another with --server.`, {
    cause,
  });
}

/** Warnings about a config that can run, one line each. */
export const warningLines = (warnings: readonly Fault[]): string[] =>
  warnings.map(({ line, pointer, detail }) => {
    const place = line ? `line ${line}` : toLine(pointer);
    return `warning  ${place ? `${place}: ` : ""}${toLine(detail)}`;
  });

/**
 * Describes an error in a config: its place and its detail. If the config's text is known, the line
 * with the error and a caret follow.
 */
export function faultLines(
  { pointer, line, column, detail }: Fault,
  config: ConfigSource | undefined,
): string[] {
  const place = line ? `${config?.name ?? "config"}:${line}${column ? `:${column}` : ""}  ` : "";
  const summary = `  ${place}${pointer ? `${toLine(pointer)}  ` : ""}${toLine(detail)}`;
  return [summary, ...(line && config?.text ? excerpt(config.text, { line, column }) : [])];
}

const CONFLICTS =
  "The team and a later push changed the same files. The question was not sent to the team.";

/**
 * The message: title, each error with its place, advice, and the request's id. The detail is
 * omitted if there are errors, because it repeats the first one.
 */
function describeProblem(problem: Problem, context: RequestContext): string {
  const { config } = context;
  const errors = problem.errors ?? [];
  const steps = conflictLines(problem, context.conflicts ?? null, context);
  // The detail speaks of fields of the API; the steps name the commands.
  const text = ownText(problem, context, steps.length > 0) ?? problem.detail ?? "";
  const detail = text !== "" && errors.length === 0 ? `: ${toLine(text)}` : "";
  const lines = [`${toLine(problem.title)} (${problem.status} ${toLine(problem.code)})${detail}`];
  for (const error of errors) lines.push(...faultLines(error, config));
  lines.push(...steps);
  const id = problem.request_id ? ` Request id: ${toLine(problem.request_id)}` : "";
  const lacksProvider =
    config?.name === MODEL_FLAG &&
    errors.some(({ code, pointer }) => code === "missing" && pointer.endsWith("/backend"));
  lines.push(`${lacksProvider ? NAME_PROVIDER : advice(problem, context)}${id}`.trim());
  return lines.filter((line) => line !== "").join("\n");
}

/** The text that replaces the problem's detail; `null` if the detail is printed. */
function ownText(
  { code }: Problem,
  { conflicts, push }: RequestContext,
  hasSteps: boolean,
): string | null {
  if (hasSteps && conflicts) return CONFLICTS;
  if (code !== "context_changed" || push === undefined || push.isLinked) return null;
  return `the context ${push.name} exists, and this folder was never pushed to it or pulled from it. Nothing was sent.`;
}

/** The commands that lead on after the context of a push was changed by others. */
function pushAdvice(context: RequestContext): string {
  const { directory, name, isLinked } = context.push ?? {
    directory: ".",
    name: "",
    isLinked: true,
  };
  const words = [shellArgument(directory), ...(name === "" ? [] : ["--name", name])];
  const pullCommand = commandAt(context, "pull", ...words, "--apply");
  if (isLinked) return `Pull that version first: ${pullCommand}\nTo replace it, push with --force.`;
  return [
    `For another project, push to a new context: ${commandAt(context, "push", shellArgument(directory), "--name", "<new-name>")}`,
    `If this folder is a copy of the context, pull it first: ${pullCommand}`,
    "To replace its files, push with --force.",
  ].join("\n");
}

const NAME_PROVIDER =
  "Name the provider of the model with --backend, such as --backend openrouter.";

const NAME_SIDE = "Ask again with --conflicts turn or --conflicts upload, the side that wins.";

function advice({ status, code }: Problem, context: RequestContext): string {
  if (status === 401)
    return `Store a key with \`${commandAt(context, "login")}\`, or set MASSGEN_EDGE_KEY.`;
  if (status === 403)
    return "The key does not allow this. Ask the service's operator for a key with this scope.";
  if (code === "spend_exceeded")
    return "The daily budget is exhausted. Ask the service's operator, or wait until tomorrow.";
  if (code === "turn_not_found")
    return `To list the turns: ${commandAt(context, "turns", "<session>")}`;
  if (code === "answer_not_found")
    return `To list the answers: ${commandAt(context, "show", "<session>")}`;
  if (status === 404) return "Check the id and the server.";
  if (code === "context_conflicts") return context.conflicts ? "" : NAME_SIDE;
  if (code === "context_changed") return pushAdvice(context);
  if (code === "turn_running") return "Wait for the running turn, attach to it, or cancel it.";
  if (code === "queue_not_empty") return "Wait until the questions before it have ended.";
  if (code === "queue_full") {
    const queue = commandAt(context, "queue", "<session>");
    return `Wait until a turn has ended, or remove a question: ${queue} --remove 1`;
  }
  if (status === 429 || status === 503) return "Wait a little and retry.";
  if (status >= 500)
    return "Internal error of the service. Retry; if the error persists, report it to the operator.";
  return "Correct this and retry.";
}

/** Codes of a session that is busy. */
const BUSY: ReadonlySet<string> = new Set(["turn_running", "queue_not_empty", "queue_full"]);

function exitCodeOf({ status, code }: Problem): ExitCode {
  if (status === 401 || status === 402 || status === 403 || code === "spend_exceeded")
    return EXIT.refused;
  if (status === 429 || status === 503 || BUSY.has(code)) return EXIT.busy;
  return status >= 400 && status < 500 ? EXIT.config : EXIT.execution;
}

/** A position in a text. Both numbers start at 1. */
export type Place = { line: number; column?: number | null | undefined };

/** Most columns of the line in an excerpt. */
const MAX_COLUMNS = 100;
/**
 * Matches a named secret value, which must not appear in a terminal or in a log. A reference
 * `${NAME}` is no secret and is shown.
 */
const NAMED_SECRET =
  /((?:api_?key|authorization|token|secret|password)["']?\s*:\s*)(\$\{\w+\}|"[^"]*"|'[^']*'|[^,}\]#]+)/gi;
/** Matches a text with the prefix of a known kind of key. */
const KEY_WITH_PREFIX = /\b(?:sk-|sk_|xai-|gsk_|AIza|mge_)[\w-]{6,}/g;

/**
 * The line of `text` at `place`, with its number and a caret below the column; empty if there is
 * no such line.
 */
export function excerpt(text: string, { line, column }: Place): string[] {
  const source = text.split(/\r\n|\n|\r/)[line - 1];
  if (source === undefined) return [];
  const masked = hideSecrets(source);
  const caret = column ? Math.min(Math.max(0, column - 1), masked.length) : null;
  const start = caret !== null && caret > MAX_COLUMNS - 20 ? caret - MAX_COLUMNS / 2 : 0;
  const part = plain(masked.slice(start, start + MAX_COLUMNS));
  const gutter = String(line).padStart(5);
  const lines = [
    `${gutter} | ${start > 0 ? "…" : ""}${part}${masked.length > start + MAX_COLUMNS ? "…" : ""}`,
  ];
  if (caret === null) return lines;
  const caretColumns = widthOf(plain(masked.slice(start, caret))) + (start > 0 ? 1 : 0);
  return [...lines, `${" ".repeat(gutter.length)} | ${" ".repeat(caretColumns)}^`];
}

/** Removes control sequences, and replaces a tab by two spaces. */
const plain = (text: string): string => sanitize(text).replaceAll("\t", "  ");

/** Replaces secrets by stars. Keeps the number of columns, so that the caret stays correct. */
const hideSecrets = (line: string): string =>
  line
    .replace(
      NAMED_SECRET,
      (_, name: string, value: string) =>
        name + (/^["']?\$\{\w+\}["']?$/.test(value) ? value : stars(value)),
    )
    .replace(KEY_WITH_PREFIX, stars);

const stars = (text: string): string => text.replace(/\S/g, "*");
