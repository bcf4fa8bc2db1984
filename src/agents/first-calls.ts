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
import type { HistoryEntry } from "../prompts/history";
import type { ToolSpec } from "../providers/provider";
import type { CommandPlace } from "../tools/shell";
import { inputTokenBound, toRequest, withResearchRequest } from "./conversation";
import { renderRecords } from "./records";

type PlannedTurn = {
  team: Team;
  question: string;
  attached: QuestionAttachments | null;
  /** Earlier turns, oldest first. */
  history: readonly HistoryEntry[];
  /** An agent's own tools, by its index. */
  toolsOf: (agent: number) => readonly ToolSpec[];
  /** As in `RenderInput`. */
  commandPlace?: CommandPlace;
};

/** A nonce of the same length as in a real turn. */
const NONCE = "0".repeat(16);

/**
 * Upper bounds of the input tokens of each agent's first call. They are computed before the turn
 * starts, from the requests that this question would cause. Tools of MCP servers count as 0: they
 * are unknown before the server lists them, and a turn that could run must not be refused. A team
 * without coordination makes only one first call: the presentation.
 */
export function firstCalls({
  team,
  question,
  attached,
  history,
  toolsOf,
  commandPlace = "service",
}: PlannedTurn): { agent: number; inputTokens: number }[] {
  // Agents work without personas if these cannot be paid.
  const rules = { ...team.rules, personas: false };
  const request = {
    type: "turn_requested",
    question,
    attached,
    parentTurn: null,
    budget: {},
    timeoutMs: null,
  } as const;
  const steps = decide(emptySession, { ...request, rules, at: 0, seed: 0 }, EMPTY_WORLD);
  const turn = runningTurn(stateAfter(emptySession, steps));
  if (!turn) return [];
  const noOutcomes = { reply: null, cut: null, summary: null, toolResult: null, planned: [] };
  const records = renderRecords({
    steps,
    team,
    history,
    nonce: () => NONCE,
    commandPlace,
    ...noOutcomes,
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
