import type { Fault, Problem } from "../src/protocol/api";
import { CliError, EXIT, type ExitCode } from "./exit-codes";
import { toLine } from "./sanitize";
import { ProblemSchema, parseJson } from "./schema";

/** `configName` is how the user named the config, so that errors point into that file. */
export type RequestContext = { server: string; configName?: string };

/** The error for people out of an answer that is no success. */
export async function errorFrom(response: Response, context: RequestContext): Promise<CliError> {
  const text = await response.text().catch(() => "");
  const parsed = ProblemSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    return new CliError(
      EXIT.execution,
      `${context.server} answered ${response.status}, not as this service does. Is the address right?`,
    );
  }
  return new CliError(exitCodeOf(response.status), describeProblem(parsed.data, context));
}

/** The error for a request that got no answer at all. */
export function unreachable({ server }: RequestContext, cause: unknown): CliError {
  const message = `No service answers at ${server}. Start it with \`npm start\`, or name another with --server.`;
  return new CliError(EXIT.execution, message, { cause });
}

/** What is said about a config that runs all the same, one line for each warning. */
export const warningLines = (warnings: readonly Fault[]): string[] =>
  warnings.map(({ line, pointer, detail }) => {
    const place = line ? `line ${line}` : toLine(pointer);
    return `warning  ${place ? `${place}: ` : ""}${toLine(detail)}`;
  });

/** Title, each error with its place, what to do, the request's id. The detail repeats the first error where there are any. */
function describeProblem(problem: Problem, { configName }: RequestContext): string {
  const errors = problem.errors ?? [];
  const detail = problem.detail && errors.length === 0 ? `: ${toLine(problem.detail)}` : "";
  const lines = [`${toLine(problem.title)} (${problem.status} ${toLine(problem.code)})${detail}`];
  for (const error of errors) {
    const place = error.line ? `${configName ?? "config"}:${error.line}${error.column ? `:${error.column}` : ""}  ` : "";
    lines.push(`  ${place}${error.pointer ? `${toLine(error.pointer)}  ` : ""}${toLine(error.detail)}`);
  }
  const id = problem.request_id ? ` Request id: ${toLine(problem.request_id)}` : "";
  lines.push(`${advice(problem)}${id}`);
  return lines.join("\n");
}

function advice({ status, code }: Problem): string {
  if (status === 401 || status === 403) return "The service wants a key that allows this.";
  if (status === 404) return "Check the id and the server.";
  if (code === "turn_running") return "Wait for the running turn, or attach to it with --attach.";
  if (status === 429) return "Wait a little and ask again.";
  if (status >= 500) return "The fault is the service's. Ask again; if it stays, tell its operator.";
  return "Correct that and ask again.";
}

const exitCodeOf = (status: number): ExitCode => (status >= 400 && status < 500 && status !== 429 ? EXIT.config : EXIT.execution);
