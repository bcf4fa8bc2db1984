import type {
  DeltaKind,
  EventOf,
  Purpose,
  SessionEvent,
  Usage,
  WireEvent,
} from "../../src/protocol/events";
import { apply, emptyView, type SessionView } from "../../src/protocol/view";
import { agentRules, teamRules } from "../builders/team-rules";

/**
 * Short functions that build events, so that a test row lists the events of a turn like a story.
 */

export const SESSION = "session_01jdtest0000000000000000";
/** Time of the first event of every test's log, in Unix milliseconds. */
export const START = 1_800_000_000_000;

/** `Omit` for each member of a union. Plain `Omit` would merge the members. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** An event before `log` numbers it. Without `at` and `turn`, `log` sets them too. */
export type Body = DistributiveOmit<SessionEvent, "at" | "turn"> & { at?: number; turn?: number };

/** Turns bodies into events: numbered upwards from `from`, each 100 ms after the previous event. */
export function log(bodies: Body[], { turn = 1, from = 1 } = {}): WireEvent[] {
  return bodies.map((body, index) => {
    const turnOfEvent = body.type === "session.created" ? 0 : turn;
    const sequence_number = from + index;
    return {
      turn: turnOfEvent,
      at: START + 100 * (sequence_number - 1),
      ...body,
      sequence_number,
      session_id: SESSION,
    } as WireEvent;
  });
}

export const view = (events: WireEvent[]): SessionView => events.reduce(apply, emptyView());

export const usage = (input: number, output: number): Usage => ({
  input_tokens: input,
  output_tokens: output,
  reasoning_tokens: 0,
  cached_tokens: 0,
});

export const created = (...ids: string[]): Body => ({
  type: "session.created",
  rules: teamRules(ids.map((id) => agentRules(id))),
});

export const turnStarted = (...ids: string[]): Body => ({
  type: "turn.started",
  question: "What is the best sorting algorithm?",
  parent_turn: null,
  aliases: Object.fromEntries(ids.map((id, index) => [id, `agent${ids.length - index}`])),
  budget: {},
  deadline_at: START + 1_800_000,
});

export const attemptStarted = (attempt = 1): Body => ({
  type: "attempt.started",
  attempt,
  feedback: attempt === 1 ? null : { reason: "too short", instructions: "say more" },
});

const work = (agent: string, round: number, attempt = 1) => ({ agent, round, attempt });

export const roundStarted = (agent: string, round = 1, labels: string[] = []): Body => ({
  type: "round.started",
  ...work(agent, round),
  purpose: "coordination",
  labels,
  cause: round === 1 ? "first" : "answered",
  workspace: null,
});

export const callStarted = (
  agent: string,
  call: string,
  round = 1,
  purpose: Purpose = "coordination",
): Body => ({
  type: "call.started",
  ...work(agent, round),
  call,
  purpose,
  try: 1,
  provider: "chatcompletion",
  model: `model-of-${agent}`,
  offers: ["new_answer"],
  forced: false,
  max_output_tokens: 4_096,
  reserved: { tokens: 5_000, cost_usd: 0.01 },
});

/** The call waits for room in the budget. */
export const callDeferred = (agent: string, call: string, round = 1): Body => ({
  type: "call.deferred",
  ...work(agent, round),
  call,
  input_tokens: 1_000,
});

export const callCompleted = (agent: string, call: string, round = 1): Body => ({
  type: "call.completed",
  ...work(agent, round),
  call,
  provider: "chatcompletion",
  model: `model-of-${agent}`,
  stop_reason: "tool_calls",
  usage: usage(100, 20),
  cost_usd: 0.5,
  tools: [],
  decisions: [],
});

type Use = EventOf<"hosted_tool.completed">;
export const hostedUse = (
  agent: string,
  call: string,
  use: Partial<Pick<Use, "name" | "input" | "outcome">> = {},
): Body => ({
  type: "hosted_tool.completed",
  ...work(agent, 1),
  call,
  name: "web_search",
  input: "sorting",
  outcome: "ok",
  output: "many results",
  ...use,
});

/** Citations of these addresses. The title of a source contains its address. */
export const cited = (agent: string, call: string, ...urls: string[]): Body => ({
  type: "citations.added",
  ...work(agent, 1),
  call,
  citations: urls.map((url) => ({ url, title: `About ${url}` })),
});

export const callFailed = (
  agent: string,
  call: string,
  retryAt: number | null = START + 60_000,
): Body => ({
  type: "call.failed",
  ...work(agent, 1),
  call,
  class: "transient",
  code: "overloaded",
  message: "The model is overloaded.",
  retry_at: retryAt,
  usage: null,
  cost_usd: 0.25,
  tokens: 40,
});

type Piece = { call: string; offset: number; text: string; kind?: DeltaKind; name?: string };
export const delta = (agent: string, ...pieces: Piece[]): Body => ({
  type: "stream.delta",
  items: pieces.map(({ kind = "text", ...piece }) => ({ agent, round: 1, kind, ...piece })),
});

export const answered = (
  agent: string,
  label: string,
  revision: number,
  content = `answer ${label}`,
): Body => ({
  type: "answer.submitted",
  attempt: 1,
  agent,
  label,
  revision,
  content,
  origin: "tool",
  snapshot: null,
});

export const voted = (
  agent: string,
  label: string,
  revision = 1,
  reason = `because of ${label}`,
): Body => ({
  type: "vote.cast",
  ...work(agent, 2),
  tool_call: `vote_${agent}`,
  label,
  revision,
  reason,
});

export const voteStale = (agent: string, label: string, missing: string[]): Body => ({
  type: "vote.stale",
  ...work(agent, 2),
  tool_call: "vote_stale",
  label,
  missing,
});

export const votesCleared = (by: string, ...votes: [agent: string, label: string][]): Body => ({
  type: "votes.cleared",
  attempt: 1,
  by,
  votes: votes.map(([agent, label]) => ({ agent, label })),
});

export const injected = (
  agent: string,
  labels: string[],
  via: "tool_result" | "message" | "reopened" = "message",
): Body => ({
  type: "answers.injected",
  ...work(agent, 2),
  labels,
  via,
});

export const agentFailed = (agent: string, code = "bad_credentials"): Body => ({
  type: "agent.failed",
  attempt: 1,
  agent,
  code,
  message: "It cannot go on.",
});

type EndedBy = "consensus" | "deadline" | "budget" | "skipped" | "cancelled";
export const settled = (
  winner: string,
  label: string,
  endedBy: EndedBy = "consensus",
  tally = { [label]: 2 },
): Body => ({
  type: "attempt.settled",
  attempt: 1,
  winner,
  label,
  tally,
  tie: false,
  ended_by: endedBy,
});

export const presenting = (agent: string, label: string): Body => ({
  type: "presentation.started",
  ...work(agent, 3),
  label,
  workspace: null,
});

type PresentationEvent = EventOf<"presentation.completed">;
export const presented = (
  agent: string,
  content: string,
  changes: Partial<Pick<PresentationEvent, "source" | "fallback" | "changed_files">> = {},
): Body => ({
  type: "presentation.completed",
  attempt: 1,
  agent,
  label: "agent1.final",
  content,
  source: "presentation",
  fallback: null,
  tools: [],
  ...changes,
});

export const completed = (winner: string, answer: string, spent = usage(1_000, 200)): Body => ({
  type: "turn.completed",
  winner,
  label: "agent1.final",
  attempt: 1,
  answer,
  finish_reason: "consensus",
  usage: spent,
  cost_usd: 2.5,
});

export const failed = (...agents: string[]): Body => ({
  type: "turn.failed",
  code: "no_answer",
  message: "No agent gave an answer.",
  agents: agents.map((agent) => ({ agent, code: "server_error", message: "500" })),
  usage: usage(10, 0),
  cost_usd: 0.1,
});

/** A queued turn that conflicts refused at its start. */
export const refusedByConflicts: Body = {
  type: "turn.failed",
  code: "context_conflicts",
  message: "Both changed a.txt.",
  agents: [],
  usage: usage(0, 0),
  cost_usd: 0,
};

export const cancelled = (answer: string | null): Body => ({
  type: "turn.cancelled",
  partial: { winner: answer === null ? null : "anna", answer, text: null },
  usage: usage(10, 5),
  cost_usd: 0.2,
});

/**
 * A whole turn. Anna and Ben answer. Ben's improved answer voids Anna's vote. Both then vote for
 * Anna's answer, and Anna presents it.
 */
export const story: Body[] = [
  created("anna", "ben"),
  turnStarted("anna", "ben"),
  attemptStarted(),
  roundStarted("anna"),
  roundStarted("ben"),
  callStarted("anna", "call_a1"),
  callStarted("ben", "call_b1"),
  delta("anna", { call: "call_a1", offset: 0, text: "Quick" }),
  delta("anna", { call: "call_a1", offset: 5, text: "sort" }),
  callFailed("ben", "call_b1"),
  callStarted("ben", "call_b2"),
  callCompleted("anna", "call_a1"),
  answered("anna", "agent1.1", 1),
  callCompleted("ben", "call_b2"),
  answered("ben", "agent2.1", 2),
  roundStarted("anna", 2, ["agent2.1", "agent1.1"]),
  roundStarted("ben", 2, ["agent1.1", "agent2.1"]),
  voted("anna", "agent2.1", 2),
  answered("ben", "agent2.2", 3),
  votesCleared("agent2.2", ["anna", "agent2.1"]),
  injected("anna", ["agent2.2"], "reopened"),
  voteStale("anna", "agent1.1", ["agent2.2"]),
  voted("anna", "agent1.1", 1),
  voted("ben", "agent1.1", 1),
  settled("anna", "agent1.1"),
  presenting("anna", "agent1.1"),
  callStarted("anna", "call_a9", 3),
  delta("anna", { call: "call_a9", offset: 0, text: "Use ", kind: "final" }),
  callCompleted("anna", "call_a9", 3),
  presented("anna", "Use quicksort."),
  completed("anna", "Use quicksort."),
];

export const REQUESTS = [
  { kind: "form" as const, message: "Your password?", url: null, refused: null },
  { kind: "url" as const, message: "Pay", url: "https://pay.example.com/x", refused: null },
  {
    kind: "url" as const,
    message: "Open this",
    url: null,
    refused: "its scheme is javascript, and only https is shown",
  },
  { kind: "other" as const, message: "sampling/createMessage", url: null, refused: null },
];
/** Fields of an event of a tool call of `agent`. */
const toolCallOf = (agent: string) => ({
  attempt: 1,
  agent,
  round: 1,
  tool_call: "t1",
  name: "mcp__box__ask",
});
const BOX = "https://box.example.com";
export const inputRequired = (agent: string): Body => ({
  type: "tool.input_required",
  ...toolCallOf(agent),
  origin: BOX,
  requests: REQUESTS,
});
export const progressed = (
  agent: string,
  progress: number,
  message: string | null = null,
  total: number | null = 10,
): Body => ({
  type: "tool.progressed",
  ...toolCallOf(agent),
  ...{ origin: BOX, progress, total, message },
});
