import type { Team } from "../config/team";
import {
  agentAt,
  eventsOf,
  indexOf,
  offersOf,
  type SessionState,
  type Step,
  type TurnState,
} from "../coordination";
import { answerFilesNote, type UpdateCause, updateMessage } from "../prompts/newer-answers";
import { type NudgeCause, nudgeMessage, RESULTS } from "../prompts/notices";
import type { PlannedCalls } from "../prompts/presentation";
import { quote } from "../prompts/quote";
import { researchNote } from "../prompts/coordination-user";
import type { HistoryEntry } from "../prompts/history";
import type { EventOf, SessionEvent } from "../protocol/events";
import type { ReplyItem } from "../providers/provider";
import type { CommandPlace } from "../tools/shell";
import type { CountedRequest } from "./counted-request";
import { shownHistory, withSummary } from "./history";
import { NOTHING_PLANNED } from "./planned-calls";
import {
  shownAnswers,
  type Start,
  type StartContext,
  startOfPresentation,
  startOfRound,
} from "./round-start";

/**
 * The private part of the log: the record that an event adds to its round's conversation. Records
 * are written once, together with the events, and never change. This module removes the round's
 * nonce from all texts that the service did not write itself.
 */
export type CallRecord =
  | ({ kind: "start" } & Start)
  /** `counted` is the request of this reply. Omitted if the provider did not count its tokens. */
  | { kind: "reply"; items: ReplyItem[]; counted?: CountedRequest }
  | { kind: "result"; toolCall: string; name: string; text: string; isError: boolean }
  /** A user message: a reminder, newer answers, or results of research. */
  | { kind: "note"; text: string }
  /** Output of a call that exceeded the context window. It is not sent back, only summarized. */
  | { kind: "cut"; text: string }
  /** Replaces the records before `keepFrom`, except the start and, with `keepsNotes`, the notes. */
  | { kind: "summary"; keepFrom: number; keepsNotes: boolean; text: string };

export type RoundRecord = { agent: number; attempt: number; round: number; record: CallRecord };

export type RenderInput = {
  steps: readonly Step[];
  team: Team;
  /** Returns the nonce of an agent of a turn. It consists of a–z and digits. */
  nonce: (turn: TurnState, agent: number) => string;
  /**
   * Earlier turns on this branch, oldest first, with the summary that was stored before the steps.
   */
  history: readonly HistoryEntry[];
  /** The reply of the call that just completed; `null` if no call did. */
  reply: { agent: number; items: ReplyItem[]; counted?: CountedRequest } | null;
  /** The output of the call that just failed; `null` if no call did. */
  cut: { agent: number; text: string } | null;
  /** The summary of the call that just completed; `null` if there is none. */
  summary: { agent: number; record: CallRecord } | null;
  /** The text of the tool that just settled; `null` if no tool did. */
  toolResult: { toolCall: string; text: string } | null;
  /** Calls recorded as plans in this attempt, for agents that start to present. */
  planned: readonly (PlannedCalls & { agent: number })[];
  /** Where the deployment runs agents' commands. Omitted: in the service. */
  commandPlace?: CommandPlace;
};

/** The records for the events in `steps`. The caller stores both in one transaction. */
export function renderRecords(input: RenderInput): RoundRecord[] {
  const records: RoundRecord[] = [];
  for (const [index, { event, before, after }] of input.steps.entries()) {
    const isResearch = isResearchCompleted(before, event);
    const answer = event.type === "answer.submitted" ? answerRecord(before, event) : null;
    if (answer) records.push(answer);
    const { turn } = after;
    if (!("round" in event) || !turn) continue;
    const agent = indexOf(turn, event.agent);
    const context = {
      input,
      turn,
      agent,
      earlier: eventsOf(input.steps.slice(0, index)),
      nonce: input.nonce(turn, agent),
    };
    const record = isResearch ? researchOf(context) : recordOf(context, event);
    if (record) records.push({ agent, attempt: event.attempt, round: event.round, record });
  }
  return records;
}

/**
 * The result of `new_answer`, which is the last record of its round. `before` is the state before
 * the event, in which the round is still open.
 */
function answerRecord(
  { turn: before }: SessionState,
  event: EventOf<"answer.submitted">,
): RoundRecord | null {
  const agent = before && indexOf(before, event.agent);
  const round = before && agentAt(before.attempt, agent ?? 0).round;
  if (agent === null || !round || event.tool_call === undefined) return null;
  const note = answerFilesNote({
    ...(event.files && { files: event.files }),
    ...(event.kept_files !== undefined && { keptFiles: event.kept_files }),
    ...(event.left_out && { leftOut: event.left_out }),
  });
  const text = note === null ? RESULTS.answerRecorded : `${RESULTS.answerRecorded} With it ${note}`;
  const record = result(event.tool_call, { name: "new_answer", text, isError: false });
  return { agent, attempt: event.attempt, round: round.number, record };
}

/**
 * An event's surroundings. `turn` is the state after the event, `agent` the index of its agent, and
 * `earlier` are the preceding events of the same batch.
 */
type EventContext = {
  input: RenderInput;
  turn: TurnState;
  agent: number;
  earlier: readonly SessionEvent[];
  nonce: string;
};
type RoundEvent = Extract<SessionEvent, { round: number }>;

function recordOf(context: EventContext, event: RoundEvent): CallRecord | null {
  switch (event.type) {
    case "round.started":
      return { kind: "start", ...startOfRound(startContext(context), event) };
    case "presentation.started":
      return { kind: "start", ...startOfPresentation(startContext(context), event.label) };
    case "call.completed":
      return replyOf(context);
    case "call.failed":
      return cutOf(context, event);
    case "conversation.compacted":
      return context.input.summary?.agent === context.agent ? context.input.summary.record : null;
    case "answer.refused":
      return result(event.tool_call, { name: "new_answer", text: event.message, isError: true });
    case "vote.refused":
      return result(event.tool_call, { name: "vote", text: event.message, isError: true });
    case "vote.stale":
      return result(event.tool_call, {
        name: "vote",
        text: updateOf(context, event.missing, "vote_stale"),
        isError: false,
      });
    case "tool.completed":
      return toolResult(context, event);
    case "tool.unknown":
      return unknownResult(context, event);
    case "round.nudged":
      return {
        kind: "note",
        text: nudgeMessage(
          nudgeCause(context),
          offersOf(context.turn, agentAt(context.turn.attempt, context.agent)),
        ),
      };
    case "answers.injected":
      return injectionNote(context, event);
    default:
      return null;
  }
}

function replyOf({ input, agent }: EventContext): CallRecord | null {
  if (input.reply?.agent !== agent) return null;
  const { items, counted } = input.reply;
  return { kind: "reply", items, ...(counted && { counted }) };
}

/** The failed call's output, if the call is repeated with a shorter conversation; else `null`. */
function cutOf(
  { input, agent }: EventContext,
  { class: failure, retry_at }: EventOf<"call.failed">,
): CallRecord | null {
  const isKept = failure === "context_too_long" && retry_at !== null && input.cut?.agent === agent;
  return isKept && input.cut?.text ? { kind: "cut", text: input.cut.text } : null;
}

/** Whether a research call completed. `before` is the state in which the call is in flight. */
function isResearchCompleted(before: SessionState, event: SessionEvent): boolean {
  if (event.type !== "call.completed") return false;
  const entry = before.turn?.inFlight[event.call];
  return entry?.type === "model_call" && entry.research === true;
}

/** The record of a research call: a note with its results. The reply itself is not sent back. */
function researchOf({ input, agent, earlier, nonce }: EventContext): CallRecord {
  const items = input.reply?.agent === agent ? input.reply.items : [];
  const text = items.map((item) => (item.type === "text" ? item.text : "")).join("");
  const uses = earlier.flatMap((event) => (event.type === "hosted_tool.completed" ? [event] : []));
  const citations = earlier.flatMap((event) =>
    event.type === "citations.added" ? event.citations : [],
  );
  return { kind: "note", text: researchNote(nonce, { text, uses, citations }) };
}

function startContext(context: EventContext): StartContext {
  const { input, turn, agent, nonce } = context;
  return {
    turn,
    agent,
    nonce,
    team: input.team,
    history: historyOf(context),
    planned: input.planned.find((plan) => plan.agent === agent) ?? NOTHING_PLANNED,
    commandPlace: input.commandPlace ?? "service",
  };
}

/** The earlier turns as the agent sees them. The author of a summary sees all that it covers. */
function historyOf({ input, turn, agent, earlier }: EventContext): readonly HistoryEntry[] {
  const history = earlier.reduce(withSummary, input.history);
  const writesSummary = agentAt(turn.attempt, agent).round?.purpose === "summary";
  return writesSummary ? history : shownHistory(history, turn.history);
}

type ToolText = { name: string; text: string; isError: boolean };

/** `tool.text` must be a text of the service, or already quoted. */
const result = (toolCall: string, tool: ToolText): CallRecord => ({
  kind: "result",
  toolCall,
  ...tool,
});

function toolResult(context: EventContext, event: EventOf<"tool.completed">): CallRecord {
  const { tool_call: toolCall, name, outcome } = event;
  const current = context.input.toolResult;
  const text = current?.toolCall === toolCall ? quote(context.nonce, current.text) : null;
  switch (outcome) {
    case "ok":
      return result(toolCall, { name, text: text || RESULTS.empty, isError: false });
    case "error":
      return result(toolCall, { name, text: text || RESULTS.noSuchTool, isError: true });
    case "planned":
      return result(toolCall, { name, text: RESULTS.planned, isError: false });
    case "refused":
      return result(toolCall, { name, text: RESULTS.refused, isError: true });
  }
}

/** The result includes the tool server's message, which may state whether the work was done. */
function unknownResult(
  { input, nonce }: EventContext,
  { tool_call: toolCall, name }: EventOf<"tool.unknown">,
): CallRecord {
  const serverMessage =
    input.toolResult?.toolCall === toolCall ? quote(nonce, input.toolResult.text) : "";
  return result(toolCall, {
    name,
    text: [RESULTS.outcomeUnknown, serverMessage].filter(Boolean).join("\n"),
    isError: true,
  });
}

/** A note with the injected answers. `null` if the result of a stale vote already contains them. */
function injectionNote(
  context: EventContext,
  { labels, via }: EventOf<"answers.injected">,
): CallRecord | null {
  if (
    via === "message" &&
    context.earlier.some((event) => event.type === "vote.stale" && isOf(context, event.agent))
  )
    return null;
  return {
    kind: "note",
    text: updateOf(context, labels, via === "reopened" ? "vote_void" : "working"),
  };
}

function updateOf(
  { turn, nonce }: EventContext,
  labels: readonly string[],
  cause: UpdateCause,
): string {
  return updateMessage(nonce, cause, shownAnswers(turn, labels));
}

function nudgeCause(context: EventContext): NudgeCause {
  const own = context.earlier.filter((event) => "agent" in event && isOf(context, event.agent));
  if (own.some(({ type }) => type === "answer.refused" || type === "vote.refused"))
    return "refused";
  return own.some((event) => event.type === "call.completed" && event.stop_reason === "length")
    ? "cut"
    : "no_decision";
}

const isOf = ({ turn, agent }: EventContext, id: string | null): boolean =>
  agentAt(turn.attempt, agent).id === id;
