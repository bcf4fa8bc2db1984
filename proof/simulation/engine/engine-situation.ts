import type { Backend, Team, TeamAgent } from "../../../src/config/team";
import type { AgentRules, Budget, HostedToolRule, TeamRules } from "../../../src/protocol/team";
import { LIMITS } from "../../../src/coordination/limits";
import { Chance } from "../../../simulated/chance";
import { drawRoundLimits, drawShortcuts } from "../world/rules-situation";
import type { RateLimits } from "../../../src/providers/rate-limits";
import { FAULTS, type Fault, hash, SETTLEMENT_FAULTS, TOOL_FAULTS } from "./faults";
import { type Habit, HABITS } from "./habits";
import { toolRules } from "./tools";
import { DIALECTS, FORMATS, type WireFormat } from "./wire";

/** Habits that rarely occur together by chance. Most seeds get one of these combinations. */
const AIMS: readonly (readonly Habit[])[] = [
  ["restarts", "strict_judges", "long_trouble"],
  ["restarts", "strict_judges", "long_trouble", "few_answers"],
  ["restarts", "strict_judges", "long_trouble", "second_turn"],
  ["restarts", "strict_judges", "long_trouble", "few_answers"],
  ["restarts", "strict_judges", "long_trouble"],
  ["endless_tools", "long_trouble", "few_answers"],
  ["endless_tools", "long_trouble"],
  ["tight_budget", "long_trouble"],
  ["tight_budget", "stubborn", "tools"],
  ["tight_budget", "tools"],
  ["cancel", "stubborn", "long_trouble", "tools"],
  ["cancel", "tools"],
  ["cancel", "tools", "endless_tools"],
  ["toolish"],
  ["personas", "second_turn", "tools"],
  ["personas", "second_turn", "tools", "long_trouble"],
  ["second_turn"],
  ["mistakes", "long_trouble"],
  ["short_deadline", "stubborn", "tools"],
  ["silent_agents", "second_turn"],
  ["tools", "long_trouble"],
  ["tools", "second_turn"],
  ["tools", "restarts", "strict_judges"],
  ["tools", "restarts", "strict_judges", "long_trouble"],
];

/**
 * Additional habits, each with the share of runs that have them. They are drawn separately, so that
 * they do not change the seeds that do not have them.
 */
const ADDITIONS: readonly (readonly [share: number, habits: readonly Habit[]])[] = [
  [0.04, ["long_results", "late_trouble", "tools"]],
  [0.04, ["served", "tools"]],
  [0.02, ["served"]],
  [0.03, ["rated", "tools"]],
  [0.02, ["rated"]],
  [0.03, ["hosted", "tools"]],
  [0.03, ["hosted"]],
  [0.12, ["projects", "tools"]],
  [0.06, ["branches"]],
  [0.12, ["branches", "tools"]],
  [0.04, ["branches", "projects", "tools"]],
  [0.05, ["teams", "branches"]],
  [0.07, ["teams", "branches", "tools"]],
  [0.06, ["queue"]],
  [0.06, ["queue", "tools"]],
  [0.08, ["branches", "summaries"]],
  [0.08, ["branches", "summaries", "tools"]],
  [0.04, ["branches", "summaries", "teams", "tools"]],
];

/**
 * Combinations in which agents use all their rounds, with one answer per round. They are drawn
 * seldom, because such a run takes as long as several other runs.
 */
const LONG_AIMS: readonly (readonly Habit[])[] = [
  ["prolific", "long_trouble", "late_trouble", "tools"],
  ["prolific", "long_trouble", "late_trouble", "tools", "second_turn"],
  ["prolific", "long_trouble", "late_trouble", "tools", "second_turn"],
];

/** Habits that are drawn seldom, because they prevent most other events. */
const RARE: ReadonlySet<Habit> = new Set([
  "skip",
  "tiny_windows",
  "endless_tools",
  "prolific",
  "late_trouble",
]);

/** Habits that end a session or a round so early that late faults cannot strike. */
const EARLY_ENDS: ReadonlySet<Habit> = new Set([
  ...([
    "cancel",
    "restarts",
    "tight_budget",
    "tiny_windows",
    "short_deadline",
    "mistakes",
    "silent_agents",
    "skip",
  ] as const),
  ...([
    "few_answers",
    "few_injections",
    "novelty",
    "endless_tools",
    "toolish",
    "defer_voting",
  ] as const),
]);

/** The complete description of a simulated session: the same situation gives the same log. */
export type EngineSituation = {
  seed: number;
  /** Number of agents. */
  agents: number;
  habits: readonly Habit[];
  faults: readonly Fault[];
  /** Numbers of the allowed strikes; `null` means all. */
  strikes: readonly number[] | null;
};

/** The situation of a seed. */
export function situationOf(seed: number): EngineSituation {
  const chance = new Chance(seed * 2_654_435_761);
  const drawnSize = chance.weighted({ one: 8, two: 34, three: 38, four: 10, five: 6, eight: 4 });
  const isQuiet = chance.is(0.04);
  const habitRate = chance.pick([0.08, 0.2, 0.35]);
  const aim = chance.is(0.02) ? chance.pick(LONG_AIMS) : chance.is(0.66) ? chance.pick(AIMS) : [];
  const additions = aim.includes("late_trouble") ? [] : drawAdditions(seed);
  const isLate = [...aim, ...additions].includes("late_trouble");
  const faultRate = chance.pick(
    isLate
      ? [0.35]
      : additions.length > 0
        ? [0.4, 0.6]
        : aim.length > 0
          ? [0.2, 0.4]
          : [0.08, 0.2, 0.4],
  );
  const size = isLate ? chance.pick(["two", "three"] as const) : drawnSize;
  const endsTooEarly = (habit: Habit): boolean => isLate && EARLY_ENDS.has(habit);
  const isDrawn = (habit: Habit): boolean => chance.is(RARE.has(habit) ? habitRate / 4 : habitRate);
  const habits = HABITS.filter(
    (habit) => (aim.includes(habit) || isDrawn(habit)) && !endsTooEarly(habit),
  );
  // Runs with tools usually have each tool fault. Runs with a second turn usually have each
  // settlement fault.
  const isLikely = (fault: Fault): boolean =>
    (aim.includes("tools") && TOOL_FAULTS.has(fault)) ||
    (habits.includes("second_turn") && SETTLEMENT_FAULTS.has(fault));
  return {
    seed,
    agents: { one: 1, two: 2, three: 3, four: 4, five: 5, eight: 8 }[size],
    habits: [...new Set([...habits, ...additions])],
    faults: isQuiet ? [] : FAULTS.filter((fault) => chance.is(isLikely(fault) ? 0.75 : faultRate)),
    strikes: null,
  };
}

function drawAdditions(seed: number): Habit[] {
  const chance = new Chance(seed * 2_246_822_519);
  const drawn = ADDITIONS.flatMap(([share, habits]) => (chance.is(share) ? habits : []));
  // A user with branches or a project knows which turn comes next; a queue decides it later.
  const isPlanned = drawn.includes("branches") || drawn.includes("projects");
  return isPlanned ? drawn.filter((habit) => habit !== "queue") : drawn;
}

/** What the session's user and the fault plan need. */
export type SessionSetup = {
  team: Team;
  budget: Budget;
  /** The wire format of each agent's provider. */
  formats: readonly WireFormat[];
  /** The deadline of a turn; `null` for the default. */
  timeoutMs: number | null;
  /** The time after which no fault strikes. */
  calmAfterMs: number;
  /** Whether faults wait for the event at which the run aims. */
  isLate: boolean;
};

export const SESSION = "session_simulated";

/** The ids, models and keys of agents. No other agent may see them. */
export const idOf = (index: number): string => `writer-canary-${index}x`;
export const modelOf = (index: number): string => `model-canary-${index}x`;
export const keyOf = (index: number): string => `key-canary-${index}x-0123456789`;

export function drawSession(situation: EngineSituation): SessionSetup {
  const { seed, agents, habits } = situation;
  const chance = new Chance(seed ^ 0x2545f491);
  const has = (habit: Habit): boolean => habits.includes(habit);
  const formats = Array.from({ length: agents }, () => chance.pick(FORMATS)).map((format, index) =>
    has("hosted") && index === 0 ? HOSTING : format,
  );
  const rules = drawRules(situation, formats, chance);
  return {
    team: {
      rules,
      agents: formats.map((format, index) => ({
        ...drawAgent(format, index, situation),
        ...(has("tools") && { workspace: FILES }),
      })),
      planningInstruction: null,
      personas: has("personas")
        ? { diversityMode: "perspective", guidelines: null, afterFirstAnswer: "soften" }
        : null,
    },
    formats,
    budget: has("tight_budget") ? drawBudget(chance) : {},
    timeoutMs: has("short_deadline") ? chance.latency(2_000, 60_000) : null,
    calmAfterMs: has("long_trouble")
      ? chance.latency(500_000, 1_500_000)
      : chance.latency(has("long_results") ? 60_000 : 10_000, 400_000),
    isLate: has("late_trouble"),
  };
}

function drawRules(
  { seed, agents, habits }: EngineSituation,
  formats: readonly WireFormat[],
  chance: Chance,
): TeamRules {
  const has = (habit: Habit): boolean => habits.includes(habit);
  return {
    agents: formats.map((format, index) => ({
      ...drawAgentRules(index, { chance, has }),
      ...(has("hosted") && format === HOSTING && { hosted_tools: [SEARCH] }),
    })),
    max_new_answers_per_agent: has("prolific")
      ? LIMITS.roundsPerAgent + 1
      : has("few_answers")
        ? chance.int(1, 2)
        : chance.int(2, 5),
    max_new_answers_global: has("few_answers") && chance.is(0.5) ? chance.int(1, agents + 2) : null,
    fairness_lead_cap_answers: !has("prolific") && chance.is(0.7) ? chance.int(0, 2) : null,
    answer_novelty_requirement: has("novelty")
      ? chance.pick(["balanced", "strict"] as const)
      : "lenient",
    max_midstream_injections_per_round: has("few_injections") ? chance.int(0, 1) : 2,
    defer_voting_until_all_answered: has("defer_voting"),
    skip_coordination: has("skip"),
    ...drawShortcuts(seed),
    max_orchestration_restarts: has("restarts") ? chance.int(1, 2) : 0,
    planning_mode: false,
    personas: has("personas"),
    orchestrator_timeout_ms: 1_800_000,
    ...drawRoundLimits(chance),
    initial_round_timeout_ms: chance.is(0.3)
      ? chance.latency(5_000, 300_000)
      : chance.pick([null, 600_000]),
  };
}

const FILES = { fileTools: true, shell: false, readBeforeDelete: true, contexts: [] };

/** The format whose provider has web search in this simulation. */
const HOSTING: WireFormat = "anthropic";
/** The maximum number of input tokens that one search adds to a call. */
export const SEARCH_TOKENS = 2_000;
const SEARCH: HostedToolRule = {
  name: "web_search",
  max_uses: 3,
  usd_per_use: 0.01,
  tokens_per_use: SEARCH_TOKENS,
};

type Draw = { chance: Chance; has: (habit: Habit) => boolean };

function drawAgentRules(index: number, { chance, has }: Draw): AgentRules {
  return {
    id: idOf(index),
    provider: "simulated",
    model: modelOf(index),
    context_window: has("tiny_windows")
      ? chance.int(6_000, 20_000)
      : has("long_results")
        ? chance.int(10_000, 16_000)
        : has("summaries")
          ? SUMMARISING_WINDOW
          : 200_000,
    max_output_tokens: chance.pick([1_000, 4_096, 16_000]),
    price: { input: chance.int(1, 30) / 10, cached_input: 0.1, output: chance.int(5, 150) / 10 },
    forces_tools: chance.is(0.6),
    workspace: has("tools"),
    ...toolRules(has),
  };
}

/** A window that some long questions with their answers exceed. */
const SUMMARISING_WINDOW = 16_000;

const drawBudget = (chance: Chance): Budget => ({
  ...(chance.is(0.6) ? { max_tokens: chance.latency(8_000, 300_000) } : {}),
  ...(chance.is(0.6) ? { max_cost_usd: chance.latency(500, 100_000) / 100_000 } : {}),
});

/** Draws rate limits so low that most agents wait, some agents until the end of their turn. */
function drawRates(chance: Chance): RateLimits {
  const rates = {
    minute: { requestsPerMinute: chance.int(1, 4) },
    tokens: { tokensPerMinute: chance.int(4_000, 20_000) },
    day: { requestsPerDay: chance.int(3, 12) },
  };
  return rates[chance.weighted({ minute: 6, tokens: 3, day: 1 })];
}

function drawAgent(
  format: WireFormat,
  index: number,
  { seed, habits }: EngineSituation,
): TeamAgent {
  const { baseUrl, host } = DIALECTS[format];
  const backend: Backend = {
    type: "simulated",
    format,
    host,
    model: modelOf(index),
    baseUrl,
    key: { from: "literal", value: keyOf(index) },
    capsOutput: false,
    params: {},
    apiVersion: null,
    hostedTools:
      habits.includes("hosted") && format === HOSTING
        ? [{ name: SEARCH.name, maxUses: SEARCH.max_uses }]
        : [],
    ...(habits.includes("rated") && {
      rates: drawRates(new Chance(seed ^ hash(`rates ${index}`))),
    }),
  };
  return {
    id: idOf(index),
    systemMessage: index === 0 ? "You are careful." : null,
    votingSensitivity: "balanced",
    backend,
  };
}
