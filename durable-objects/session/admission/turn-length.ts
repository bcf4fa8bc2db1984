import { expectedAttachmentTokens } from "../../../src/agents/attached";
import { firstCalls } from "../../../src/agents/first-calls";
import { bytesOfHistory, shownHistory, sizesOf } from "../../../src/agents/history";
import { commandsOf } from "../../../src/config/operator-settings";
import type { Team } from "../../../src/config/team";
import {
  byteLength,
  type HistoryFacts,
  isSurelyShort,
  lengthRefusal,
  type NarrowWindow,
  planHistory,
  type QuestionAttachments,
  type QuestionTooLong,
  windowsAfter,
} from "../../../src/coordination";
import type { Env } from "../../../src/env";
import type { Attachment } from "../../../src/protocol/attachments";
import type { HistoryEntry } from "../../../src/prompts/history";
import type { SessionParts } from "../compose";
import { type SessionLog, startOfTurn, type TurnPlace } from "../log/session-log";
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
  windows: readonly NarrowWindow[];
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
  const { team, entries, windows } = measured;
  const { agents } = team.rules;
  const sizes = sizesOf(entries);
  const attachments = measured.attached?.attachments ?? [];
  const texts = attachments.filter(({ kind }) => kind === "text");
  const requestBytes = isShort(measured, sizes) ? [] : requestBytesOf(env, measured);
  const request = { requestBytes, attachedTokens: expectedTokens(team, texts) };
  const refusal = lengthRefusal(agents, request);
  if (refusal) return refusal;
  const attachedTokens = expectedTokens(team, attachments);
  const facts = { ...sizes, requestBytes, attachedTokens, windows };
  const history = entries.length > 0 || windows.length > 0 ? facts : null;
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
 * The history of a turn that no agent reads. It only keeps what is known about the windows of
 * models for later turns; `null` if nothing is known.
 */
export function unreadHistory(session: Past): HistoryFacts | null {
  const windows = knownWindows(session);
  const nothing = { summary: null, turns: [], requestBytes: [], attachedTokens: 0 };
  return windows.length === 0 ? null : { ...nothing, windows };
}

type Past = Pick<SessionParts, "log" | "queries">;

/** The models whose windows are smaller than assumed, as the latest turn has shown. */
export function knownWindows({ log, queries }: Past): readonly NarrowWindow[] {
  const latest = log.latest();
  const place = latest && log.turn(latest.turn);
  const start = place && startOfTurn(log, place.turn);
  if (!start) return [];
  const earlier = start.history?.windows ?? [];
  const refused = refusedModels(log, place);
  if (refused.length === 0) return earlier;
  const read = shownHistory(queries.history(start.parent_turn), start.history);
  const history = bytesOfHistory(read);
  const texts = (start.attachments ?? []).filter(({ kind }) => kind === "text");
  const question = texts.reduce((sum, { size }) => sum + size, byteLength(start.question));
  return windowsAfter({ earlier, refused, bytes: { history, question } });
}

/** The models whose requests were refused as too long until their agents gave up. */
function refusedModels(
  log: SessionLog,
  place: TurnPlace,
): Pick<NarrowWindow, "provider" | "model">[] {
  const calls = new Set(
    [...log.readType(place, "call.failed")].flatMap((row) => {
      const event = toWire(row, "");
      const isRefused =
        event.type === "call.failed" &&
        event.class === "context_too_long" &&
        event.retry_at === null;
      return isRefused ? [event.call] : [];
    }),
  );
  if (calls.size === 0) return [];
  return [...log.readType(place, "call.started")].flatMap((row) => {
    const event = toWire(row, "");
    return event.type === "call.started" && calls.has(event.call)
      ? [{ provider: event.provider, model: event.model }]
      : [];
  });
}
