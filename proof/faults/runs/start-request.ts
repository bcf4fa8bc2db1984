import type { ToolServer } from "../../../simulated/providers/tool-server";
import { keyOf } from "./exposure";
import type { Kind, RunServers } from "./kinds";

/** The part of a run that its requests contain. */
type RequestingRun = { kind: Kind; mark: string; canary: string; capUsd: number | null };
type Servers = { providers: RunServers; tools: ToolServer };

/** A question of a run. Its mark identifies all requests that contain the question. */
export const questionOf = (
  { kind, mark }: Pick<RequestingRun, "kind" | "mark">,
  text: string,
): string => `${text} ${mark}${" and so on".repeat((kind.padding ?? 0) / 10)}`;

/** The body of the request that starts a run. */
export function startRequest(run: RequestingRun, servers: Servers) {
  const { kind, capUsd } = run;
  const { agents, config = {} } = kind;
  const budget = {
    ...(capUsd !== null && { max_cost_usd: capUsd }),
    ...(kind.maxTokens !== undefined && { max_tokens: kind.maxTokens }),
  };
  const budgetSetting = Object.keys(budget).length > 0 ? { budget } : {};
  return {
    question: questionOf(run, "When does water boil?"),
    config: { agents: teamOf(run, agents, servers), ...config },
    ...budgetSetting,
  };
}

/** The body of the request for a further turn of a run. `turn`: its number. */
export function furtherRequest(
  run: RequestingRun,
  { turn, text }: { turn: number; text: string },
  servers: Servers,
) {
  const { otherAgents, overrides } = run.kind;
  const isOther = turn === 2 && otherAgents !== undefined;
  return {
    question: questionOf(run, text),
    ...(isOther && { config: { agents: teamOf(run, otherAgents, servers) } }),
    ...(turn === 3 && overrides && { overrides }),
  };
}

function teamOf(
  { kind, mark, canary }: RequestingRun,
  agents: Kind["agents"],
  { providers, tools: toolServer }: Servers,
) {
  const tools =
    kind.tools === "http" || kind.tools === "both" ? { custom_tools: toolServer.declared } : {};
  return agents(withOwnAddresses(mark, providers)).map(({ id, model, backend }) => ({
    id,
    backend: { ...backend, ...tools, model, api_key: keyOf(canary, id) },
  }));
}

/** The servers, with addresses of the tool servers that only this run uses. */
const withOwnAddresses = (
  mark: string,
  { toolsUrl, askingUrl, silentUrl, ...others }: RunServers,
): RunServers => ({
  ...others,
  toolsUrl: `${toolsUrl}/${mark}`,
  askingUrl: `${askingUrl}/${mark}`,
  silentUrl: `${silentUrl}/${mark}`,
});
