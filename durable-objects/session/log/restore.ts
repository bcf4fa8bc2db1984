import { z } from "zod";
import { chargesOf, emptySession, evolve, type LoggedEvent, type SessionState } from "../../../src/coordination";
import type { OpenTurn, RestoredSession } from "../../../src/engine/ports";
import { toCostFields } from "../../../src/protocol/cost";
import type { SessionEvent } from "../../../src/protocol/events";
import type { TeamRules } from "../../../src/protocol/team";
import { parseJson } from "../../../src/providers/json";
import { type LogRow, toJson, toWire } from "../streams/frames";
import type { SessionLog } from "./session-log";

/**
 * The state from the log. Only an open turn is folded: of settled turns only the number matters. An
 * open turn that cannot be folded, because another version of the service wrote it, is reported as
 * broken so that the session can continue.
 */
export function restore(log: SessionLog, sessionId: string, rules: TeamRules): RestoredSession {
  const latest = log.turns().at(-1);
  if (!latest) return { state: emptySession, open: null, broken: null };
  const state = { lastAt: log.lastAt(), rules, turns: latest.turn, turn: null };
  if (latest.lastSeq !== null) return { state, open: null, broken: null };
  try {
    const folded = fold(
      log,
      sessionId,
      { ...state, lastAt: 0 },
      { after: latest.firstSeq - 1, upTo: log.head },
    );
    return { state: folded, open: latest, broken: null };
  } catch (error) {
    return { state, open: latest, broken: error };
  }
}

type Range = { after: number; upTo: number };

function fold(log: SessionLog, sessionId: string, from: SessionState, range: Range): SessionState {
  let state = from;
  for (const row of log.read({ ...range, deltas: false })) {
    state = evolve(state, toWire(row, sessionId));
  }
  return state;
}

/**
 * The events that end an open turn that cannot be folded: its calls in flight fail, and the turn
 * fails. `at`: unix ms.
 */
export function brokenEnd(
  log: SessionLog,
  { turn, firstSeq }: OpenTurn,
  at: number,
): SessionEvent[] {
  const { usage, cost, settles } = chargesOf(
    loggedEvents(log.read({ after: firstSeq - 1, upTo: log.head, deltas: false })),
    at,
  );
  const message =
    "The log of this turn was written by another version of the service and cannot be continued.";
  return [
    ...settles,
    {
      type: "turn.failed",
      at,
      turn,
      code: "internal",
      message,
      agents: [],
      usage,
      ...toCostFields(cost),
    },
  ];
}

const LoggedEventSchema = z.looseObject({ type: z.string(), call: z.string().optional() });

/** The events in the rows. Rows that cannot be parsed are skipped. */
function* loggedEvents(rows: Iterable<LogRow>): Generator<LoggedEvent> {
  for (const row of rows) {
    const { data } = LoggedEventSchema.safeParse(parseJson(toJson(row, "")));
    if (data) yield data;
  }
}
