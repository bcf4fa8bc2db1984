import type { CallFailure, Reply } from "../../../src/coordination";
import type { Decision, FailureClass, ToolsListing } from "../../../src/protocol/events";
import type { AgentRules, Budget, TeamRules } from "../../../src/protocol/team";
import type { Overrides } from "../../../src/protocol/turn-team";
import type { ToolNotification } from "../../../src/protocol/events/tool";
import type { CallContext } from "./world";

/** The outcome of one call of an agent. */
export type Step = {
  /** The duration of the call; infinite if it hangs. */
  afterMs?: number;
  /** The text that the call streams before its end. */
  partial?: string;
  /** The reply. It is a function, because aliases are known only when the call starts. */
  reply?: (seen: CallContext, call: string) => Partial<Reply>;
  failure?: CallFailure;
};

/** The team of a later turn. `rules`: omitted for the session's team. */
export type AskedTeam = {
  rules?: TeamRules;
  overrides?: Overrides;
  overriddenAgents?: readonly AgentRules[];
};

/** The scripted behaviour of a team in one turn. */
export type Script = {
  rules: TeamRules;
  /**
   * The steps of each agent, in the order of its calls. The run throws if an agent makes more calls
   * than it has steps.
   */
  steps: readonly (readonly Step[])[];
  budget?: Budget;
  timeoutMs?: number;
  cancelAfterMs?: number;
  /** Number of turns, each of which continues the one before it. Omitted: 1. */
  turns?: number;
  /** The size of each turn in the histories of later turns. Omitted: a short turn. */
  turnBytes?: number;
  /** Plays the steps in three turns; the user moves the head back before the third. */
  goesBack?: true;
  /** Further turns, each after the turn before it, with the team of its request. */
  then?: readonly AskedTeam[];
  /** Plays the steps in two turns; between them, a queued turn is refused at its start. */
  queues?: true;
  crashAfterMs?: number;
  /** Listings of the agents' tool servers. */
  listings?: readonly ToolsListing[];
  /** Notifications of tool servers during each tool call. */
  notifications?: readonly ToolNotification[];
  /** How long each agent's first call waits for its backend's rate limits. */
  heldMs?: number;
};

const PRICE = { input: 1, cached_input: 0.25, output: 4 };

/** An agent of a scripted team. `place`: its place in the team, from 1. */
export const member = (place: number, change: Partial<AgentRules> = {}): AgentRules => ({
  id: ["ada", "bela", "cleo", "dora"][place - 1] ?? `agent_${place}`,
  provider: "simulated",
  model: `model-${place}`,
  context_window: 128_000,
  max_output_tokens: 4_096,
  price: PRICE,
  forces_tools: true,
  workspace: false,
  tools: [],
  ...change,
});

export const teamOf = (size: number, change: Partial<TeamRules> = {}): TeamRules => ({
  agents: Array.from({ length: size }, (_, index) => member(index + 1)),
  max_new_answers_per_agent: 5,
  max_new_answers_global: null,
  fairness_lead_cap_answers: 2,
  answer_novelty_requirement: "lenient",
  max_midstream_injections_per_round: 2,
  defer_voting_until_all_answered: false,
  skip_coordination: false,
  max_orchestration_restarts: 0,
  planning_mode: false,
  personas: false,
  orchestrator_timeout_ms: 1_800_000,
  initial_round_timeout_ms: 600_000,
  ...change,
});

type Timing = { afterMs?: number; partial?: string };

const decides = (
  decision: (seen: CallContext, call: string) => Decision,
  timing: Timing,
): Step => ({
  ...timing,
  reply: (seen, call) => ({ stopReason: "tool_calls", decisions: [decision(seen, call)] }),
});

export const answers = (content: string, timing: Timing = {}): Step =>
  decides((_, call) => ({ name: "new_answer", tool_call: `${call}_answer`, content }), timing);

/** `place`: the author's place in the team, from 1. */
export const votesFor = (place: number, reason: string, timing: Timing = {}): Step =>
  decides(
    ({ state }, call) => ({
      name: "vote",
      tool_call: `${call}_vote`,
      alias: state.turn?.aliases[place - 1] ?? "",
      reason,
    }),
    timing,
  );

export const usesTool = (name: string, timing: Timing = {}): Step => ({
  ...timing,
  reply: (_, call) => ({ stopReason: "tool_calls", tools: [{ toolCall: `${call}_use`, name }] }),
});

/** A step in which the model searches the web first. */
export const afterSearching = (query: string, { reply, ...step }: Step): Step => ({
  ...step,
  reply: (seen, call) => ({
    usage: {
      input_tokens: 1_300,
      output_tokens: 200,
      reasoning_tokens: 0,
      cached_tokens: 400,
      cache_write_tokens: 300,
      hosted_uses: { web_search: 1 },
    },
    hosted: [{ name: "web_search", input: query, outcome: "ok", output: "Three passes." }],
    citations: [{ url: "https://passes.example/", title: "Passes", text: "three passes" }],
    ...reply?.(seen, call),
  }),
});

export const says = (text: string, timing: Timing = {}): Step => ({
  ...timing,
  reply: () => ({ text }),
});

export const hangs = (partial?: string): Step => ({
  afterMs: Number.POSITIVE_INFINITY,
  ...(partial === undefined ? {} : { partial }),
});

/** Assigns a persona to each agent, in the order of the team. */
export const assignsPersonas = (personas: readonly string[]): Step => ({
  reply: ({ state }) => ({
    personas: Object.fromEntries(
      personas.map((persona, index) => [state.turn?.aliases[index] ?? "", persona]),
    ),
  }),
});

/** Votes for an alias that does not exist. */
export const votesForUnknownAlias = (): Step =>
  decides(
    (_, call) => ({
      name: "vote",
      tool_call: `${call}_vote`,
      alias: "agent9",
      reason: "It is the best.",
    }),
    {},
  );

export const submits = (): Step => ({ reply: () => ({ verdict: { restart: false } }) });

export const asksForRestart = (reason: string, instructions: string): Step => ({
  reply: () => ({ verdict: { restart: true, reason, instructions } }),
});

export const failsWith = (failure: FailureClass, timing: Timing = {}): Step => ({
  ...timing,
  failure: {
    class: failure,
    code: failure === "transient" ? "server_error" : `simulated_${failure}`,
    message: `The simulated provider failed with ${failure}.`,
    retryAfterMs: null,
    usage: null,
    reached: failure === "transient",
  },
});
