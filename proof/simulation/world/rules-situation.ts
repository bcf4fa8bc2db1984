import type {
  AgentRules,
  Budget,
  HostedToolRule,
  Price,
  TeamRules,
  ToolRule,
} from "../../../src/protocol/team";
import { Chance } from "../../../simulated/chance";

/** Faults and rules of runs. Each run draws a subset, so that rare combinations also occur. */
export const FEATURES = [
  "transient_failures",
  "fatal_failures",
  "withheld_replies",
  "crashes",
  "cancel",
  "tools",
  "hosted_tools",
  "research",
  "planning",
  "personas",
  "restarts",
  "tight_budget",
  "tiny_windows",
  "short_deadline",
  "defer_voting",
  "novelty",
  "mistakes",
  "silence",
  "slow",
  "hangs",
  "few_answers",
  "few_injections",
  "stubborn",
  "skip",
  "second_turn",
  "deltas",
  "clock_jumps",
  "late_alarms",
  "double_delivery",
  "branches",
] as const;
export type Feature = (typeof FEATURES)[number];

/** The complete description of a simulated session: the same situation gives the same log. */
export type Situation = { seed: number; agents: number; features: readonly Feature[] };

/**
 * Features that rarely occur together by chance. Half of the seeds get one of these combinations.
 */
const AIMS: readonly (readonly Feature[])[] = [
  ["tools", "crashes"],
  ["tools", "crashes", "planning"],
  ["tools", "double_delivery"],
  ["hosted_tools", "tight_budget"],
  ["research", "transient_failures"],
  ["transient_failures"],
  ["transient_failures", "restarts"],
  ["silence"],
  ["silence", "restarts"],
  ["withheld_replies", "restarts"],
  ["personas", "second_turn"],
  ["mistakes"],
];

/** The situation of a seed. The property tests draw situations with fast-check instead. */
export function rulesSituationOf(seed: number): Situation {
  const chance = new Chance(seed * 40_503);
  const rate = chance.pick([0.05, 0.15, 0.3]);
  const aim = chance.is(0.5) ? chance.pick(AIMS) : [];
  return {
    seed,
    agents: chance.int(1, 5),
    features: FEATURES.filter((feature) => aim.includes(feature) || chance.is(rate)),
  };
}

export const TOOLS: readonly ToolRule[] = [
  { name: "read_file", acts_outside: false, idempotent: true },
  { name: "run_shell", acts_outside: false, idempotent: false },
  { name: "send_mail", acts_outside: true, idempotent: false },
  { name: "look_up", acts_outside: true, idempotent: true },
];

/** The tools of the tool server, which some agents use. */
export const SERVED_TOOLS: readonly ToolRule[] = [
  { name: "mcp__box__look", acts_outside: false, idempotent: true },
  { name: "mcp__box__send", acts_outside: true, idempotent: false },
];

/** The hosted tools of agents. The price of the last tool is unknown. */
const HOSTED_TOOLS: readonly HostedToolRule[] = [
  { name: "web_search", max_uses: 5, usd_per_use: 0.01, tokens_per_use: 2_000 },
  { name: "code_execution", max_uses: 20, usd_per_use: 0, tokens_per_use: 300 },
  { name: "x_search", max_uses: 2, usd_per_use: null, tokens_per_use: 1_000 },
];

export function drawTeam({ seed, agents, features }: Situation): TeamRules {
  const chance = new Chance(seed);
  const has = (feature: Feature): boolean => features.includes(feature);
  return {
    agents: Array.from({ length: agents }, (_, index) => drawAgent(index, { chance, has })),
    max_new_answers_per_agent: has("few_answers")
      ? chance.int(1, 2)
      : chance.int(2, has("stubborn") ? 30 : 5),
    max_new_answers_global: has("few_answers") && chance.is(0.5) ? chance.int(1, agents + 2) : null,
    fairness_lead_cap_answers: chance.is(0.7) ? chance.int(0, 2) : null,
    answer_novelty_requirement: has("novelty")
      ? chance.pick(["balanced", "strict"] as const)
      : "lenient",
    max_midstream_injections_per_round: has("few_injections") ? chance.int(0, 1) : 2,
    defer_voting_until_all_answered: has("defer_voting"),
    skip_coordination: has("skip"),
    ...drawShortcuts(seed),
    max_orchestration_restarts: has("restarts") ? chance.int(1, 3) : 0,
    planning_mode: has("planning"),
    personas: has("personas"),
    orchestrator_timeout_ms: has("short_deadline") ? chance.latency(500, 60_000) : 1_800_000,
    ...drawRoundLimits(chance),
    initial_round_timeout_ms: chance.is(0.3)
      ? chance.latency(1_000, 300_000)
      : chance.pick([null, 600_000]),
  };
}

/** Draws limits of rounds, often so small that runs reach them. */
export const drawRoundLimits = (chance: Chance) => ({
  max_calls_per_round: chance.is(0.4) ? chance.int(1, 8) : chance.pick([50, 200]),
  ...(chance.is(0.7) && {
    subsequent_round_timeout_ms: chance.is(0.4) ? chance.latency(1_000, 200_000) : null,
  }),
  ...(chance.is(0.7) && { round_timeout_grace_ms: chance.pick([0, 2_000, 120_000]) }),
});

/** Draws rules that only a few teams have. A separate generator keeps the other draws unchanged. */
export function drawShortcuts(
  seed: number,
): Pick<
  TeamRules,
  "disable_injection" | "reuse_winning_answer" | "failing_member_grace_ms" | "paced_grace_agents"
> {
  const chance = new Chance(seed + 7_919);
  return {
    ...(chance.is(0.1) && { disable_injection: true }),
    ...(chance.is(0.1) && { reuse_winning_answer: true }),
    ...(chance.is(0.7) && { failing_member_grace_ms: chance.pick([0, 1_000, 5_000, 20_000]) }),
    // Teams of the simulation are small, so the grace follows the pace from few agents on.
    ...(chance.is(0.7) && { paced_grace_agents: chance.pick([3, 4, 8]) }),
  };
}

type Draw = { chance: Chance; has: (feature: Feature) => boolean };

function drawAgent(index: number, { chance, has }: Draw): AgentRules {
  return {
    id: `writer_${index + 1}`,
    provider: chance.pick(["alpha", "beta"]),
    model: `model-${chance.int(1, 3)}`,
    context_window: has("tiny_windows") ? chance.int(1_500, 5_000) : 128_000,
    max_output_tokens: chance.pick([200, 1_000, 4_096, 16_000]),
    price: chance.is(0.8) ? drawPrice(chance) : null,
    forces_tools: chance.is(0.6),
    workspace: chance.is(0.5),
    tools: has("tools") ? TOOLS.filter(() => chance.is(0.75)) : [],
    ...(has("tools") && index % 2 === 1 ? { tool_servers: ["box"] } : {}),
    ...(has("hosted_tools") || has("research")
      ? { hosted_tools: HOSTED_TOOLS.filter(() => chance.is(0.6)) }
      : {}),
    ...(has("research") && chance.is(0.7) ? { hosted_alone: true } : {}),
  };
}

/** Draws a price. Prices of long prompts are never lower than the usual prices. */
function drawPrice(chance: Chance): Price {
  const rates = {
    input: chance.int(0, 30) / 10,
    cached_input: chance.int(0, 30) / 20,
    ...(chance.is(0.3) ? { cache_write: chance.int(0, 60) / 10 } : {}),
    output: chance.int(0, 150) / 10,
  };
  if (!chance.is(0.2)) return rates;
  const doubled = Object.entries(rates).map(([name, rate]) => [name, 2 * rate]);
  return {
    ...rates,
    long_prompt: { ...rates, ...Object.fromEntries(doubled), above: chance.int(500, 5_000) },
  };
}

export function drawBudget({ seed, features }: Situation): Budget {
  const chance = new Chance(seed + 1);
  if (features.includes("tight_budget")) {
    return {
      ...(chance.is(0.6) ? { max_tokens: chance.latency(300, 150_000) } : {}),
      ...(chance.is(0.6) ? { max_cost_usd: chance.latency(1, 20_000) / 100_000 } : {}),
    };
  }
  const hasHostedTools = features.includes("hosted_tools") || features.includes("research");
  if (!hasHostedTools || chance.is(0.5)) return {};
  // This cap covers some, but not all allowed uses of hosted tools.
  return { max_tokens: chance.int(10_000, 150_000) };
}
