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
import type { EarlierTurn } from "../prompts/task";
import type { EventOf, SessionEvent } from "../protocol/events";
import type { ReplyItem } from "../providers/provider";
import type { CountedRequest } from "./counted-request";
import { NOTHING_PLANNED } from "./planned-calls";
import {
  shownAnswers,
  type Start,
  type StartContext,
  startOfPresentation,
  startOfRound,
} from "./round-start";

/**
 * The private part of the log: what each event adds to its round's conversation. Records are
 * written once, together with the events, and never change. All text from others is cleaned of the
 * round's nonce here.
 */
export type CallRecord =
  | ({ kind: "start" } & Start)
  /** `counted`: the request of this reply, if the provider counted its tokens. */
  | { kind: "reply"; items: ReplyItem[]; counted?: CountedRequest }
  | { kind: "result"; toolCall: string; name: string; text: string; isError: boolean }
  /** A user message: a reminder, newer answers, or results of research. */
  | { kind: "note"; text: string }
  /** Output of a call that was too long. It is not sent again but summarized. */
  | { kind: "cut"; text: string }
  /** Replaces the records before `keepFrom`, except the start and, with `keepsNotes`, the notes. */
  | { kind: "summary"; keepFrom: number; keepsNotes: boolean; text: string };

export type RoundRecord = { agent: number; attempt: number; round: number; record: CallRecord };

export type RenderInput = {
  steps: readonly Step[];
  team: Team;
  /** Consists of a–z and digits. */
  nonce: (agent: number, attempt: number) => string;
  /** Earlier turns on this branch, oldest first. */
  history: readonly EarlierTurn[];
  /** The call that just completed. */
  reply: { agent: number; items: ReplyItem[]; counted?: CountedRequest } | null;
  /** The output of the call that just failed. */
  cut: { agent: number; text: string } | null;
  /** The summary call that just completed. */
  summary: { agent: number; record: CallRecord } | null;
  /** The tool that just settled. */
  toolResult: { toolCall: string; text: string } | null;
  /** Calls recorded as plans in this attempt, for agents that start to present. */
  planned: readonly (PlannedCalls & { agent: number })[];
};

/** The records for these events. The caller stores them in the same transaction. */
export function renderRecords(input: RenderInput): RoundRecord[] {
  const records: RoundRecord[] = [];
  for (const [nth, { event, before, after }] of input.steps.entries()) {
    const research = isResearchCompleted(before, event);
    const closed = event.type === "answer.submitted" ? answerRecord(before, event) : null;
    if (closed) records.push(closed);
    const { turn } = after;
    if (!("round" in event) || !turn) continue;
    const agent = indexOf(turn, event.agent);
    const scene = {
      input,
      turn,
      agent,
      earlier: eventsOf(input.steps.slice(0, nth)),
      nonce: input.nonce(agent, event.attempt),
    };
    const record = research ? researchOf(scene) : recordOf(scene, event);
    if (record) records.push({ agent, attempt: event.attempt, round: event.round, record });
  }
  return records;
}

/**
 * The result of `new_answer`, the last record of its round. `before` is the state without the
 * event, in which the round is open.
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

/** `turn` is the state after the event; `earlier` are preceding events of the same batch. */
type Scene = {
  input: RenderInput;
  turn: TurnState;
  agent: number;
  earlier: readonly SessionEvent[];
  nonce: string;
};
type RoundEvent = Extract<SessionEvent, { round: number }>;

function recordOf(scene: Scene, event: RoundEvent): CallRecord | null {
  switch (event.type) {
    case "round.started":
      return { kind: "start", ...startOfRound(startContext(scene), event) };
    case "presentation.started":
      return { kind: "start", ...startOfPresentation(startContext(scene), event.label) };
    case "call.completed":
      return replyOf(scene);
    case "call.failed":
      return cutOf(scene, event);
    case "conversation.compacted":
      return scene.input.summary?.agent === scene.agent ? scene.input.summary.record : null;
    case "answer.refused":
      return result(event.tool_call, { name: "new_answer", text: event.message, isError: true });
    case "vote.refused":
      return result(event.tool_call, { name: "vote", text: event.message, isError: true });
    case "vote.stale":
      return result(event.tool_call, {
        name: "vote",
        text: updateOf(scene, event.missing, "vote_stale"),
        isError: false,
      });
    case "tool.completed":
      return toolResult(scene, event);
    case "tool.unknown":
      return unknownResult(scene, event);
    case "round.nudged":
      return {
        kind: "note",
        text: nudgeMessage(
          nudgeCause(scene),
          offersOf(scene.turn, agentAt(scene.turn.attempt, scene.agent)),
        ),
      };
    case "answers.injected":
      return injected(scene, event);
    default:
      return null;
  }
}

function replyOf({ input, agent }: Scene): CallRecord | null {
  if (input.reply?.agent !== agent) return null;
  const { items, counted } = input.reply;
  return { kind: "reply", items, ...(counted && { counted }) };
}

/** Kept if the call is repeated with a shorter conversation. */
function cutOf(
  { input, agent }: Scene,
  { class: failure, retry_at }: EventOf<"call.failed">,
): CallRecord | null {
  const isKept = failure === "context_too_long" && retry_at !== null && input.cut?.agent === agent;
  return isKept && input.cut?.text ? { kind: "cut", text: input.cut.text } : null;
}

/** `before` is the state without the event, in which the call is in flight. */
function isResearchCompleted(before: SessionState, event: SessionEvent): boolean {
  if (event.type !== "call.completed") return false;
  const entry = before.turn?.inFlight[event.call];
  return entry?.type === "model_call" && entry.research === true;
}

/** The record of a research call: its results as a message. The reply itself is not sent back. */
function researchOf({ input, agent, earlier, nonce }: Scene): CallRecord {
  const items = input.reply?.agent === agent ? input.reply.items : [];
  const text = items.map((item) => (item.type === "text" ? item.text : "")).join("");
  const uses = earlier.flatMap((event) => (event.type === "hosted_tool.completed" ? [event] : []));
  const citations = earlier.flatMap((event) =>
    event.type === "citations.added" ? event.citations : [],
  );
  return { kind: "note", text: researchNote(nonce, { text, uses, citations }) };
}

const startContext = ({ input, turn, agent, nonce }: Scene): StartContext => ({
  turn,
  agent,
  nonce,
  team: input.team,
  history: input.history,
  planned: input.planned.find((one) => one.agent === agent) ?? NOTHING_PLANNED,
});

type ToolText = { name: string; text: string; isError: boolean };

/** `tool.text` must be safe: a text of the service, or already quoted. */
const result = (toolCall: string, tool: ToolText): CallRecord => ({
  kind: "result",
  toolCall,
  ...tool,
});

function toolResult(scene: Scene, event: EventOf<"tool.completed">): CallRecord {
  const { tool_call: toolCall, name, outcome } = event;
  const current = scene.input.toolResult;
  const text = current?.toolCall === toolCall ? quote(scene.nonce, current.text) : null;
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

/** Includes the tool server's message, which may say whether the work was done. */
function unknownResult(
  { input, nonce }: Scene,
  { tool_call: toolCall, name }: EventOf<"tool.unknown">,
): CallRecord {
  const said = input.toolResult?.toolCall === toolCall ? quote(nonce, input.toolResult.text) : "";
  return result(toolCall, {
    name,
    text: [RESULTS.outcomeUnknown, said].filter(Boolean).join("\n"),
    isError: true,
  });
}

/**
 * The result of a stale vote already contains the answers; otherwise they are a message of their
 * own.
 */
function injected(scene: Scene, { labels, via }: EventOf<"answers.injected">): CallRecord | null {
  if (
    via === "message" &&
    scene.earlier.some((event) => event.type === "vote.stale" && isOf(scene, event.agent))
  )
    return null;
  return {
    kind: "note",
    text: updateOf(scene, labels, via === "reopened" ? "vote_void" : "working"),
  };
}

function updateOf({ turn, nonce }: Scene, labels: readonly string[], cause: UpdateCause): string {
  return updateMessage(nonce, cause, shownAnswers(turn, labels));
}

function nudgeCause(scene: Scene): NudgeCause {
  const own = scene.earlier.filter((event) => "agent" in event && isOf(scene, event.agent));
  if (own.some(({ type }) => type === "answer.refused" || type === "vote.refused"))
    return "refused";
  return own.some((event) => event.type === "call.completed" && event.stop_reason === "length")
    ? "cut"
    : "no_decision";
}

const isOf = ({ turn, agent }: Scene, id: string | null): boolean =>
  agentAt(turn.attempt, agent).id === id;
