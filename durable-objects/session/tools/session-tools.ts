import { loaderOf } from "../../../src/config/operator-settings";
import type { Team } from "../../../src/config/team";
import { runningTurn, type ToolListingEffect } from "../../../src/coordination";
import type { ToolSpec } from "../../../src/providers/provider";
import { toolProblem, whyUnfit } from "../../../src/providers/tool-problems";
import { logError } from "../../../src/redaction/log";
import { hasJavascript, javascriptRunner } from "../../../src/tools/javascript";
import { Breakers } from "../../../src/tools/breaker";
import { type McpEnvironment, MissingSecretError } from "../../../src/tools/mcp/environment";
import { parseToolTrust } from "../../../src/tools/mcp/trust";
import type { Tool } from "../../../src/tools/tool";
import { readsToolResults } from "../../../src/tools/files";
import { Mutex } from "../../../src/async/mutex";
import { AgentToolboxes } from "./agent-toolboxes";
import type { Containers } from "./containers";
import type { RelaySlot, SessionInputs, SlotSource } from "../../../src/engine/ports";
import type { Env } from "../../../src/env";
import { perTeam } from "../per-team";
import type { SessionFacts } from "../session-facts";
import { TokenStore } from "./token-store";
import type { SessionLog } from "../log/session-log";
import { ToolDefinitions } from "./tool-definitions";
import { toolSecrets } from "./tool-secrets";
import { ToolServers } from "./tool-servers";
import { toolboxOf } from "./toolbox";
import type { Sql } from "../object-storage";

type Options = {
  env: Env;
  session: SessionInputs;
  slots: SlotSource<RelaySlot>;
  now: () => number;
  log: SessionLog;
  sql: Sql;
  teams: SessionFacts["teams"];
  containers: Containers;
  /** The guarded `fetch` of tool servers: the session's own, and that over a relay. */
  fetch: McpEnvironment["fetch"];
  fetchOver: NonNullable<McpEnvironment["fetchOver"]>;
  holder: { tenant: string; session: string };
};

/** The tools of a session's agents. */
export type SessionTools = {
  /** An agent's tools by its index: those of its config, then those of its servers. */
  toolsOf(agent: number): Tool[];
  /** See `ToolServers`. */
  list(effect: ToolListingEffect, signal: AbortSignal): Promise<void>;
  /** Closes all connections to servers. */
  close(): Promise<void>;
};

/** Builds a session's tools from its tables and the deployment's settings. */
export function sessionTools({
  env,
  session,
  slots,
  now,
  log,
  sql,
  teams,
  containers,
  fetch,
  fetchOver,
  holder,
}: Options): SessionTools {
  const secretOf = toolSecrets(env, holder.tenant);
  const shared = { large: new Mutex(), breakers: new Breakers() };
  const loader = loaderOf(env);
  const javascriptSetup = { runner: loader && javascriptRunner(loader), mutex: new Mutex() };
  const team = () => teams.current();
  const rulesOf = (index: number) =>
    runningTurn(session.state)?.rules.agents[index] ?? team().rules.agents[index];
  const configTools = perTeam(
    team,
    ({ agents }) =>
      new AgentToolboxes(agents, rulesOf, (agent, index, rules) =>
        toolboxOf(agent, {
          ...{ secretOf, shared, runner: () => containers.runnerOf(index) },
          javascript: hasJavascript(rules) ? javascriptSetup : null,
          readsResults: readsToolResults(rules),
        }),
      ),
  );
  const { trust, problems } = parseToolTrust(env.MCP_SAFE_TOOLS);
  if (team().agents.some(({ mcp }) => mcp)) for (const problem of problems) logError(problem);
  const servers = new ToolServers({
    session,
    slots,
    now,
    log,
    definitions: new ToolDefinitions(sql),
    teams,
    environment: {
      fetch,
      fetchOver,
      trust,
      tokens: new TokenStore(env, holder, sql),
      large: shared.large,
      ownTools: (id) =>
        configTools().of(team().agents.findIndex((agent) => agent.id === id)).length,
      unfit: unfitFor(team),
      secretOf: requiredSecret(secretOf),
    },
  });
  return {
    toolsOf: (agent) => [...configTools().of(agent), ...servers.toolsOf(agent)],
    list: (effect, signal) => servers.list(effect, signal),
    close: () => servers.close(),
  };
}

/** Returns secrets, and throws `MissingSecretError` for a secret that the service does not have. */
const requiredSecret =
  (secretOf: ReturnType<typeof toolSecrets>): McpEnvironment["secretOf"] =>
  async (name, use) => {
    const secret = await secretOf(name, use);
    if (secret === undefined)
      throw new MissingSecretError(`the service has no ${name} for ${new URL(use.url).origin}`);
    return secret;
  };

/** Maximum number of cached verdicts: servers may list any number of tools during a session. */
const MAX_VERDICTS = 1_000;

/**
 * Returns a function that says why a tool does not fit an agent's model; `null` if it fits. A tool
 * is checked only once per format, because the check of a schema may take milliseconds.
 */
function unfitFor(
  team: () => Team,
): (agent: string, spec: ToolSpec, hash: string) => string | null {
  const verdicts = new Map<string, string | null>();
  return (id, spec, hash) => {
    const format = team().agents.find((agent) => agent.id === id)?.backend.format;
    if (format === undefined) return null;
    const known = verdicts.get(`${format} ${hash}`);
    if (known !== undefined) return known;
    const problem = toolProblem(format, spec);
    const why = problem && whyUnfit(problem);
    if (verdicts.size < MAX_VERDICTS) verdicts.set(`${format} ${hash}`, why);
    return why;
  };
}
