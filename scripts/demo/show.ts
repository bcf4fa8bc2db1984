import { displayFor } from "../../cli/display/choose-display";
import { startRun } from "../../cli/service/session-calls";
import { EXIT, type ExitCode } from "../../cli/exit-codes";
import type { Io } from "../../cli/io";
import { exitCodeOf, report } from "../../cli/display/report";
import { watchTurn } from "../../cli/asking/watch";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { SCENARIO } from "../../simulated/demo/scenario";
import { eventsPath, sessionPath } from "../../src/protocol/paths";

/** The outputs of the demo, its environment, and its abort signal. */
export type Stage = Pick<Io, "stdout" | "stderr" | "env"> & { signal: AbortSignal };
export type DemoRun = { exitCode: ExitCode; sessionId: string; turn: number };

/** Asks the demo's question, shows the run, and prints the result. Throws CliError. */
export async function showRun(
  server: string,
  providers: Pick<SimulatedProviders, "baseUrls">,
  stage: Stage,
): Promise<DemoRun> {
  stage.stderr.write(introduction());
  const run = { question: SCENARIO.question, config: teamConfig(providers) };
  const context = { server };
  const { session_id: sessionId, turn } = await startRun(run, context, stage.signal);
  const display = displayFor(false, stage);
  const outcome = await watchTurn({ server, sessionId, turn, display, signal: stage.signal });
  const place = { sessionId, turn };
  if (outcome.end === "detached" || !outcome.turn) return { ...place, exitCode: EXIT.interrupted };
  report(outcome.turn, place, { options: { context, jsonStream: false }, io: stage });
  return { ...place, exitCode: exitCodeOf(outcome.turn) };
}

/** The message about a service that keeps running, with commands to try. */
export function whatNext(server: string, { sessionId, turn }: DemoRun): string {
  return `
The service stays up at ${server} until Ctrl+C. Things to try in another terminal:

  the status of the run         curl -s ${server}${sessionPath(sessionId)}
  its event log, from the start curl -sN ${server}${eventsPath(sessionId, turn)}?detail=summary
  the same, from event 20 on    curl -sN -H 'Last-Event-ID: 20' ${server}${eventsPath(sessionId, turn)}?detail=summary
  watch it once more            npm run ask -- --server ${server} --attach ${sessionId}
`;
}

function introduction(): string {
  const team = SCENARIO.agents.map(({ id, model }) => `${id} (${model})`).join(", ");
  return `\nTeam: ${team}; simulated on this machine, each in its vendor's wire format, without keys or network, at real prices.\nQuestion: ${SCENARIO.question}\n\n`;
}

/** The config of the team in an API request. Each agent has its own key and endpoint. */
function teamConfig({ baseUrls }: Pick<SimulatedProviders, "baseUrls">): Record<string, unknown> {
  const agents = SCENARIO.agents.map(({ id, type, model, searches }) => {
    const backend = { type, model, base_url: baseUrls[FORMATS[type]], api_key: "simulated" };
    return { id, backend: { ...backend, ...(searches && { enable_web_search: true }) } };
  });
  return { agents };
}

const FORMATS = { openai: "openai-responses", claude: "anthropic", gemini: "gemini" } as const;
