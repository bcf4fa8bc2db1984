import { Mutex } from "../../../src/async/mutex";
import { commandsOf } from "../../../src/config/operator-settings";
import type { Team } from "../../../src/config/team";
import type { Env } from "../../../src/env";
import type { ToolSpec } from "../../../src/providers/provider";
import { readsToolResults } from "../../../src/tools/files";
import { hasJavascript } from "../../../src/tools/javascript";
import { Containers } from "../tools/containers";
import { toolboxOf } from "../tools/toolbox";

/**
 * The own tools of each agent as its model sees them, by the agent's index. Only to measure
 * requests: the tools cannot be run.
 */
export function ownToolsOf(
  env: Env,
  team: Team,
  session: string,
): (index: number) => readonly ToolSpec[] {
  const place = commandsOf(env);
  const teams = { current: () => team, all: () => [team] };
  const containers = new Containers({ sandboxes: env.SANDBOX, place, session, teams });
  return (index) => {
    const agent = team.agents[index];
    const rules = team.rules.agents[index]?.tools ?? [];
    const javascript = hasJavascript(rules) ? { runner: null, mutex: new Mutex() } : null;
    const dependencies = {
      secretOf: async () => undefined,
      shared: {},
      runner: () => containers.runnerOf(index),
    };
    return agent
      ? toolboxOf(agent, {
          ...dependencies,
          javascript,
          readsResults: readsToolResults(rules),
        }).map(({ spec }) => spec)
      : [];
  };
}
