import type { Team } from "../config/team";
import {
  agentAt,
  type QuestionAttachments,
  decide,
  EMPTY_WORLD,
  emptySession,
  mayResearch,
  offersOf,
  runningTurn,
  stateAfter,
} from "../coordination";
import type { EarlierTurn } from "../prompts/task";
import type { ToolSpec } from "../providers/provider";
import { inputTokenBound, toRequest, withResearchRequest } from "./conversation";
import { renderRecords } from "./records";

type Planned = {
  team: Team;
  question: string;
  attached: QuestionAttachments | null;
  /** Turns that the new one follows, oldest first. */
  history: readonly EarlierTurn[];
  /** An agent's own tools from its config, by its index. */
  toolsOf: (agent: number) => readonly ToolSpec[];
};

/** As long as the nonce of a real turn. */
const NONCE = "0".repeat(16);

/**
 * Bounds of the input tokens of each agent's first call, before the turn begins: of the requests that a new turn on this question would
 * make. Tools of servers count as nothing, as nobody knows them before they are listed: what could run must not be refused. A team
 * without coordination makes one call, its presentation.
 */
export function firstCalls({
  team,
  question,
  attached,
  history,
  toolsOf,
}: Planned): { agent: number; inputTokens: number }[] {
  const rules = { ...team.rules, personas: false }; // without their personas agents work all the same
  const asked = {
    type: "turn_requested",
    question,
    attached,
    parentTurn: null,
    budget: {},
    timeoutMs: null,
  } as const;
  const steps = decide(emptySession, { ...asked, rules, at: 0, seed: 0 }, EMPTY_WORLD);
  const turn = runningTurn(stateAfter(emptySession, steps));
  if (!turn) return [];
  const nothing = { reply: null, cut: null, summary: null, toolResult: null, planned: [] };
  const records = renderRecords({
    steps,
    team,
    history,
    nonce: () => NONCE,
    ...nothing,
  });
  return records.flatMap(({ agent: index, record }) => {
    const [agent, state] = [team.agents[index], agentAt(turn.attempt, index)];
    const agentRules = rules.agents[index];
    if (!agent || !agentRules || !state.round) return [];
    const request = toRequest({
      records: mayResearch(agentRules, state.round) ? withResearchRequest([record]) : [record],
      agent,
      aliases: turn.aliases,
      offers: offersOf(turn, state),
      forced: false,
      maxOutputTokens: null,
      ownTools: toolsOf(index),
      hostedTools: agent.backend.hostedTools,
    });
    return [{ agent: index, inputTokens: inputTokenBound(request) + (attached?.tokens ?? 0) }];
  });
}
