import type { Fault, Problem } from "../../src/protocol/api";
import { readText } from "./answer-text";
import { type Connection, isLoopback } from "../credentials/connection";
import { excerpt } from "./excerpt";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { toLine } from "../terminal/sanitize";
import { ProblemSchema, parseJson } from "./schema";
import { commandLineOf, MODEL_FLAG } from "../invocation";

/** What the user called the config, and its text where it is theirs, so that errors point into it. */
export type ConfigSource = { name: string; text: string | null };
export type RequestContext = Connection & { config?: ConfigSource };

/** The error for people out of an answer that is no success. */
export async function errorFrom(response: Response, context: RequestContext): Promise<CliError> {
  const text = await readText(response, context.server).catch(() => "");
  const parsed = ProblemSchema.safeParse(parseJson(text));
  if (parsed.success)
    return new CliError(exitCodeOf(parsed.data), describeProblem(parsed.data, context));
  const { server } = context;
  const moved = response.status >= 300 && response.status < 400 ? movedTo(response, server) : null;
  const code = moved ? EXIT.config : EXIT.execution;
  return new CliError(
    code,
    moved ??
      `${server} answered ${response.status}, not as this service does. Is the address right?`,
  );
}

/** Redirects are not followed: a key belongs to one server. */
function movedTo(response: Response, server: string): string | null {
  const location = response.headers.get("location");
  if (!location || !URL.canParse(location, server)) return null;
  return `${server} sends its callers to ${new URL(location, server).origin}. If that is the service you mean, name it with --server.`;
}

/** The error for a request that got no answer, or only the beginning of one. */
export function unreachable({ server }: Connection, cause: unknown, began = false): CliError {
  const timedOut = cause instanceof Error && cause.name === "TimeoutError";
  const silence = timedOut
    ? `${server} took the request and did not answer.`
    : `No service answers at ${server}.`;
  const what = began ? `The answer of ${server} broke off.` : silence;
  const remedy = isLoopback(server)
    ? "Start it with `npm start`"
    : "Check the address and your connection";
  return new CliError(EXIT.unreachable, `${what} ${remedy}, or name another with --server.`, {
    cause,
  });
}

/** What is said about a config that runs all the same, one line for each warning. */
export const warningLines = (warnings: readonly Fault[]): string[] =>
  warnings.map(({ line, pointer, detail }) => {
    const place = line ? `line ${line}` : toLine(pointer);
    return `warning  ${place ? `${place}: ` : ""}${toLine(detail)}`;
  });

/** A place in a config and what is wrong there; below it the line itself, with a caret, where its text is known. */
export function faultLines(
  { pointer, line, column, detail }: Fault,
  config: ConfigSource | undefined,
): string[] {
  const place = line ? `${config?.name ?? "config"}:${line}${column ? `:${column}` : ""}  ` : "";
  const said = `  ${place}${pointer ? `${toLine(pointer)}  ` : ""}${toLine(detail)}`;
  return [said, ...(line && config?.text ? excerpt(config.text, { line, column }) : [])];
}

/** Title, each error with its place, what to do, the request's id. The detail repeats the first error where there are any. */
function describeProblem(problem: Problem, { config }: RequestContext): string {
  const errors = problem.errors ?? [];
  const detail = problem.detail && errors.length === 0 ? `: ${toLine(problem.detail)}` : "";
  const lines = [`${toLine(problem.title)} (${problem.status} ${toLine(problem.code)})${detail}`];
  for (const error of errors) lines.push(...faultLines(error, config));
  const id = problem.request_id ? ` Request id: ${toLine(problem.request_id)}` : "";
  const isWhose =
    config?.name === MODEL_FLAG &&
    errors.some(({ code, pointer }) => code === "missing" && pointer.endsWith("/backend"));
  lines.push(`${isWhose ? WHOSE_MODEL : advice(problem)}${id}`);
  return lines.join("\n");
}

const WHOSE_MODEL = "Say whose model it is with --backend, such as --backend openrouter.";

function advice({ status, code }: Problem): string {
  if (status === 401)
    return `Store a key with \`${commandLineOf("login")}\`, or set MASSGEN_EDGE_KEY.`;
  if (status === 403)
    return "The key does not allow this: ask whoever gave it to you for one that does.";
  if (code === "spend_exceeded")
    return "The limit of spending is reached: ask the service's operator, or wait for the next day.";
  if (status === 404) return "Check the id and the server.";
  if (code === "turn_running") return "Wait for the running turn, attach to it, or cancel it.";
  if (status === 429 || status === 503) return "Wait a little and ask again.";
  if (status >= 500)
    return "The fault is the service's. Ask again; if it stays, tell its operator.";
  return "Correct that and ask again.";
}

function exitCodeOf({ status, code }: Problem): ExitCode {
  if (status === 401 || status === 402 || status === 403 || code === "spend_exceeded")
    return EXIT.refused;
  if (status === 429 || status === 503 || code === "turn_running") return EXIT.busy;
  return status >= 400 && status < 500 ? EXIT.config : EXIT.execution;
}
