import type { CallFailure, InputBody, Reply, WorkspaceFacts } from "../../src/coordination";
import type { Decision, ToolsListing, Usage } from "../../src/protocol/events";
import type { AgentRules, TeamRules, ToolRule } from "../../src/protocol/team";
import type { ToolNotification, ToolProgress } from "../../src/protocol/events/tool";

/** Builders for short tests: a team, and the replies of its models. */

export const agentRules = (id: string, changes: Partial<AgentRules> = {}): AgentRules => ({
  id,
  provider: "chatcompletion",
  model: `model-of-${id}`,
  context_window: 128_000,
  max_output_tokens: 4_000,
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
  skip_coordination: false,
  max_orchestration_restarts: 0,
  planning_mode: false,
  personas: false,
  orchestrator_timeout_ms: 1_000_000,
  initial_round_timeout_ms: 600_000,
  ...changes,
});

export const tool = (name: string, changes: Partial<ToolRule> = {}): ToolRule => ({
  name,
  acts_outside: false,
  idempotent: false,
  ...changes,
});

/** A workspace with this many files, in which the round changed a file. */
export const wrote = (files: number, changes: Partial<WorkspaceFacts> = {}): WorkspaceFacts => ({
  files,
  changed: true,
  ...changes,
});
/** A workspace that is unchanged since the start of its round. */
export const changedNothing = (files = 0, facts: Partial<WorkspaceFacts> = {}): WorkspaceFacts => ({
  files,
  changed: false,
  ...facts,
});

/** The tools of a tool server; `null` if it is unreachable. */
export const listing = (server: string, tools: readonly ToolRule[] | null): ToolsListing => ({
  server,
  version: tools ? "2026-07-28" : null,
  problem: tools ? null : "It could not be reached.",
  tools: (tools ?? []).map((rule) => ({ ...rule, tool: rule.name, hash: `hash of ${rule.name}` })),
  refused: [],
});

const BOX = "https://box.example.com";
export const progress = (done: number, changes: Partial<ToolProgress> = {}): ToolNotification => ({
  type: "progress",
  origin: BOX,
  progress: done,
  total: 10,
  message: null,
  ...changes,
});
/** An elicitation of a tool server with `times` requests to a person. */
export const asksPerson = (times = 1, message = "Your password?"): ToolNotification => ({
  type: "elicitation",
  origin: BOX,
  requests: Array.from({ length: times }, () => ({
    kind: "form",
    message,
    url: null,
    refused: null,
  })),
});

export const used = (input: number, output: number, cached = 0): Usage => ({
  input_tokens: input,
  output_tokens: output,
  reasoning_tokens: 0,
  cached_tokens: cached,
});

/**
 * The acting agent. `alias` returns the alias of an agent id. `nth` is the number of the agent's
 * move and makes the ids of tool calls unique.
 */
export type ActingAgent = { id: string; alias: (id: string) => string; nth: number };

/**
 * The end of a call, `afterMs` after it was sent. `what` is `null` if the call never ends by
 * itself.
 */
export type Outcome = { afterMs: number; what: { reply: Reply } | { failure: CallFailure } | null };
/** What an agent's model does in one call. */
export type Move = (acting: ActingAgent) => Outcome;

const reply = (changes: Partial<Reply>): Outcome => ({
  afterMs: 1_000,
  what: {
    reply: {
      stopReason: "stop",
      usage: used(100, 50),
      text: "",
      tools: [],
      decisions: [],
      verdict: null,
      personas: null,
      ...changes,
    },
  },
});

type Part = (acting: ActingAgent, place: number) => Decision;

export const anAnswer =
  (content: string): Part =>
  ({ nth }, place) => ({ name: "new_answer", tool_call: `t${nth}-${place}`, content });

/** A vote for the newest answer of the agent with this id, or for an alias that no agent has. */
export const aVote =
  (target: string, reason = "the best"): Part =>
  ({ nth, alias }, place) => ({
    name: "vote",
    tool_call: `t${nth}-${place}`,
    alias: alias(target),
    reason,
  });

export const invalid =
  (name: "new_answer" | "vote", problem = "content is missing"): Part =>
  ({ nth }, place) => ({ name: "invalid", tool: name, tool_call: `t${nth}-${place}`, problem });

/** A reply with these decisions. `changes` sets its other fields. */
export const decides =
  (parts: Part[], changes: Partial<Reply> = {}): Move =>
  (acting) =>
    reply({
      stopReason: "tool_calls",
      decisions: parts.map((part, place) => part(acting, place)),
      ...changes,
    });

export const answers = (content: string, changes: Partial<Reply> = {}): Move =>
  decides([anAnswer(content)], changes);
export const votes = (target: string, changes: Partial<Reply> = {}): Move =>
  decides([aVote(target)], changes);

/** Gives a new answer in each call, without end. */
export const improves: Move = (acting) => answers(`Idea ${acting.nth} of ${acting.id}`)(acting);

export const says =
  (text: string, changes: Partial<Reply> = {}): Move =>
  () =>
    reply({ text, ...changes });

/** Calls the agent's own tools by name; the reply may also contain decisions. */
export const uses =
  (names: string[], parts: Part[] = [], changes: Partial<Reply> = {}): Move =>
  (acting) =>
    reply({
      stopReason: "tool_calls",
      tools: names.map((name, place) => ({ toolCall: `own${acting.nth}-${place}`, name })),
      decisions: parts.map((part, place) => part(acting, place)),
      ...changes,
    });

export const confirms: Move = () =>
  reply({ stopReason: "tool_calls", verdict: { restart: false } });
export const rejects =
  (reason: string, instructions: string): Move =>
  () =>
    reply({ stopReason: "tool_calls", verdict: { restart: true, reason, instructions } });

export const failure = (changes: Partial<CallFailure> = {}): CallFailure => ({
  class: "transient",
  code: "server_error",
  message: "The provider failed.",
  retryAfterMs: null,
  usage: null,
  reached: false,
  ...changes,
});

export const fails =
  (changes: Partial<CallFailure> = {}): Move =>
  () => ({ afterMs: 1_000, what: { failure: failure(changes) } });

/** The call never ends by itself. */
export const hangs: Move = () => ({ afterMs: 0, what: null });

export const slowly =
  (afterMs: number, move: Move): Move =>
  (acting) => ({ ...move(acting), afterMs });

export const cancel: InputBody = { type: "cancel_requested" };
