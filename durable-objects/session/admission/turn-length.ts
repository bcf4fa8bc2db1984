import { expectedAttachmentTokens } from "../../../src/agents/attached";
import { firstCalls } from "../../../src/agents/first-calls";
import { shownHistory, sizesOf } from "../../../src/agents/history";
import { commandsOf } from "../../../src/config/operator-settings";
import type { Team } from "../../../src/config/team";
import {
  byteLength,
  type HistoryFacts,
  isSurelyShort,
  lengthRefusal,
  nextHalvings,
  planHistory,
  type QuestionAttachments,
  type QuestionTooLong,
} from "../../../src/coordination";
import type { Env } from "../../../src/env";
import type { Attachment } from "../../../src/protocol/attachments";
import type { HistoryEntry } from "../../../src/prompts/history";
import { type SessionLog, startOfTurn } from "../log/session-log";
import { toWire } from "../streams/frames";
import { ownToolsOf } from "./own-tools";

type MeasuredTurn = {
  team: Team;
  question: string;
  attached: QuestionAttachments | null;
  /** The turns that the turn continues. */
  entries: readonly HistoryEntry[];
  sessionId: string;
  /** As in `HistoryFacts`. */
  halvings: number;
};

/**
 * `history`: the sizes by which the rules plan what the agents read of earlier turns. `shown`: what
 * they will read at most; a planned summary may make it shorter.
 */
type TurnLength = {
  ok: true;
  history: HistoryFacts | null;
  shown: readonly HistoryEntry[];
};

/** Measures a turn before it starts. Refuses a question that the window of no model fits. */
export function measureTurn(env: Env, measured: MeasuredTurn): TurnLength | QuestionTooLong {
  const { team, entries, halvings } = measured;
  const { agents } = team.rules;
  const sizes = sizesOf(entries);
  const attachments = measured.attached?.attachments ?? [];
  const texts = attachments.filter(({ kind }) => kind === "text");
  const requestBytes = isShort(measured, sizes) ? [] : requestBytesOf(env, measured);
  const request = { requestBytes, attachedTokens: expectedTokens(team, texts) };
  const refusal = lengthRefusal(agents, request);
  if (refusal) return refusal;
  const attachedTokens = expectedTokens(team, attachments);
  const facts = { ...sizes, requestBytes, attachedTokens, halvings };
  const history = entries.length > 0 || halvings > 0 ? facts : null;
  return { ok: true, history, shown: shownHistory(entries, planHistory(agents, history)) };
}

function isShort(
  { team, question, attached }: MeasuredTurn,
  { summary, turns }: Pick<HistoryFacts, "summary" | "turns">,
): boolean {
  const historyBytes = turns.reduce((sum, { bytes }) => sum + bytes, summary?.bytes ?? 0);
  const sizes = { historyBytes, questionBytes: byteLength(question) };
  return attached === null && isSurelyShort(team.rules.agents, sizes);
}

const expectedTokens = ({ agents }: Team, attachments: readonly Attachment[]): number =>
  Math.max(0, ...agents.map(({ backend }) => expectedAttachmentTokens(backend.model, attachments)));

/** Bytes of each agent's first request without history; infinite if it makes no first call. */
function requestBytesOf(env: Env, { team, question, sessionId }: MeasuredTurn): number[] {
  const calls = firstCalls({
    ...{ team, question, attached: null, history: [] },
    toolsOf: ownToolsOf(env, team, sessionId),
    commandPlace: commandsOf(env),
  });
  const bytes = new Map(calls.map(({ agent, inputTokens }) => [agent, inputTokens]));
  return team.agents.map((_, index) => bytes.get(index) ?? Number.POSITIVE_INFINITY);
}

/**
 * The history of a turn that no agent reads. It only keeps how often later turns halve the space
 * for theirs; `null` if they do not.
 */
export function unreadHistory(log: SessionLog): HistoryFacts | null {
  const halvings = halvingsAfter(log);
  const nothing = { summary: null, turns: [], requestBytes: [], attachedTokens: 0 };
  return halvings === 0 ? null : { ...nothing, halvings };
}

/**
 * How often the next turn must halve the space for its history: providers that refuse a request as
 * too long have a smaller window than is known.
 */
export function halvingsAfter(log: SessionLog): number {
  const latest = log.latest();
  const place = latest && log.turn(latest.turn);
  if (!place) return 0;
  const before = startOfTurn(log, place.turn)?.history?.halvings ?? 0;
  const wasRefused = [...log.readType(place, "call.failed")].some((row) => {
    const event = toWire(row, "");
    return (
      event.type === "call.failed" && event.class === "context_too_long" && event.retry_at === null
    );
  });
  return nextHalvings(before, wasRefused);
}
