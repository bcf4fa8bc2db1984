import type { AgentRules, TeamRules } from "../../src/protocol/team";

/** The rules of agents and teams whose config sets no rules. */

export const agentRules = (id: string, changes: Partial<AgentRules> = {}): AgentRules => ({
  id,
  provider: "chatcompletion",
  model: `model-of-${id}`,
  context_window: 128_000,
  max_output_tokens: 4_096,
  price: { input: 1, cached_input: 0.5, output: 2 },
  forces_tools: true,
  workspace: false,
  tools: [],
  ...changes,
});

export const teamRules = (agents: AgentRules[], changes: Partial<TeamRules> = {}): TeamRules => ({
  agents,
  max_new_answers_per_agent: 5,
  max_new_answers_global: null,
  fairness_lead_cap_answers: 2,
  answer_novelty_requirement: "lenient",
  max_midstream_injections_per_round: 2,
  defer_voting_until_all_answered: false,
  paced_grace_agents: 8,
  skip_coordination: false,
  max_orchestration_restarts: 0,
  planning_mode: false,
  personas: false,
  orchestrator_timeout_ms: 1_800_000,
  max_calls_per_round: 200,
  initial_round_timeout_ms: null,
  subsequent_round_timeout_ms: null,
  round_timeout_grace_ms: 120_000,
  failing_member_grace_ms: 5_000,
  ...changes,
});
