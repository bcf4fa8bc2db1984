import { settingsInTurn } from "../../../src/config/granted-contexts";
import type { TeamAgent } from "../../../src/config/team";
import type { AgentRules, ToolRule } from "../../../src/protocol/team";
import type { Tool } from "../../../src/tools/tool";

/** The rules of an agent in the running turn, or by its config while no turn runs. */
type RulesOf = (index: number) => Pick<AgentRules, "workspace" | "tools"> | undefined;
type MakeToolbox = (agent: TeamAgent, index: number, rules: readonly ToolRule[]) => Tool[];

/**
 * The tools of each agent by its config. An agent without a workspace has another toolbox in turns
 * whose request has granted it a workspace.
 */
export class AgentToolboxes {
  readonly #agents: readonly TeamAgent[];
  readonly #rulesOf: RulesOf;
  readonly #make: MakeToolbox;
  /** Toolboxes by index of the agent, and whether it has a workspace. */
  readonly #made = new Map<string, Tool[]>();

  constructor(agents: readonly TeamAgent[], rulesOf: RulesOf, make: MakeToolbox) {
    this.#agents = agents;
    this.#rulesOf = rulesOf;
    this.#make = make;
  }

  /** The tools of the agent at this index. */
  of(index: number): Tool[] {
    const [agent, rules] = [this.#agents[index], this.#rulesOf(index)];
    if (!agent || !rules) return [];
    const key = `${index} ${rules.workspace}`;
    const made =
      this.#made.get(key) ?? this.#make(settingsInTurn(agent, rules.workspace), index, rules.tools);
    this.#made.set(key, made);
    return made;
  }
}
