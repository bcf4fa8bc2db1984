import type { EventOf, EventType, SessionEvent } from "../../../src/protocol/events";
import type { AgentRules, TeamRules } from "../../../src/protocol/team";
import type { NumberedEvent } from "../../../checker/types";

/**
 * Small corruptions of a log, to test that the checker reports them. Each returns a new, correctly
 * numbered log.
 */
export type Corruption = (log: readonly NumberedEvent[]) => NumberedEvent[];

const isType = <T extends EventType>(
  event: NumberedEvent,
  type: T,
): event is EventOf<T> & { sequence_number: number } => event.type === type;

function placeOf(log: readonly NumberedEvent[], type: EventType, nth: number): number {
  const places = log.flatMap((event, place) => (event.type === type ? [place] : []));
  const place = places.at(nth - 1);
  if (place === undefined) throw new Error(`the log has no ${type} number ${nth}`);
  return place;
}

const unnumbered = (event: SessionEvent): NumberedEvent => ({ ...event, sequence_number: 0 });

const renumbered = (log: readonly SessionEvent[]): NumberedEvent[] =>
  log.map((event, place) => ({ ...event, sequence_number: place + 1 }));

/** Changes the nth event of a type. */
export const changes =
  <T extends EventType>(type: T, change: Partial<EventOf<T>>, nth = 1): Corruption =>
  (log) => {
    const place = placeOf(log, type, nth);
    return log.map((event, other) =>
      other === place && isType(event, type) ? { ...event, ...change } : event,
    );
  };

/** Removes the nth event of a type. */
export const hides =
  (type: EventType, nth = 1): Corruption =>
  (log) =>
    renumbered(log.toSpliced(placeOf(log, type, nth), 1));

/** Duplicates the nth event of a type. */
export const repeats =
  (type: EventType, nth = 1): Corruption =>
  (log) => {
    const place = placeOf(log, type, nth);
    return renumbered(log.toSpliced(place, 0, ...log.slice(place, place + 1)));
  };

/** Inserts events that never happened after the nth event of a type, at its time. */
export const adds =
  <T extends EventType>(
    type: T,
    made: (event: EventOf<T>) => readonly SessionEvent[],
    nth = 1,
  ): Corruption =>
  (log) => {
    const place = placeOf(log, type, nth);
    const event = log[place];
    return renumbered(
      log.toSpliced(
        place + 1,
        0,
        ...(event && isType(event, type) ? made(event) : []).map(unnumbered),
      ),
    );
  };

type Move = { nth?: number; before: EventType; beforeNth?: number };

/** Moves the nth event of a type forward, to the time of its new neighbour. */
export const moves =
  (type: EventType, { nth = 1, before, beforeNth = 1 }: Move): Corruption =>
  (log) => {
    const from = placeOf(log, type, nth);
    const to = placeOf(log, before, beforeNth);
    const moved = log
      .slice(from, from + 1)
      .map((event) => ({ ...event, at: log[to]?.at ?? event.at }));
    return renumbered(log.toSpliced(from, 1).toSpliced(to < from ? to : to - 1, 0, ...moved));
  };

/** Appends a copy of an earlier event to the log. */
export const echoesAtEnd =
  (type: EventType): Corruption =>
  (log) => {
    const place = placeOf(log, type, 1);
    const at = log.at(-1)?.at ?? 0;
    return renumbered([...log, ...log.slice(place, place + 1).map((event) => ({ ...event, at }))]);
  };

/** Replaces every event of a type. */
export const rewrites =
  <T extends EventType>(type: T, made: (event: EventOf<T>) => EventOf<T>): Corruption =>
  (log) =>
    log.map((event) =>
      isType(event, type) ? { ...made(event), sequence_number: event.sequence_number } : event,
    );

/** Changes the team's rules. */
export const withRules = (change: Partial<TeamRules>): Corruption =>
  rewrites("session.created", (event) => ({ ...event, rules: { ...event.rules, ...change } }));

/** Changes an agent's rules; those of all agents without an id. */
export const withAgentRules = (change: Partial<AgentRules>, id?: string): Corruption =>
  rewrites("session.created", ({ rules, ...event }) => {
    const agents = rules.agents.map((agent) =>
      id === undefined || agent.id === id ? { ...agent, ...change } : agent,
    );
    return { ...event, rules: { ...rules, agents } };
  });

/** Delays everything from the nth event of a type on. */
export const delays =
  (type: EventType, ms: number, nth = 1): Corruption =>
  (log) => {
    const place = placeOf(log, type, nth);
    return log.map((event, other) => (other < place ? event : { ...event, at: event.at + ms }));
  };

/** Cuts the log after the nth event of a type. */
export const endsAt =
  (type: EventType, nth = 1): Corruption =>
  (log) =>
    log.slice(0, placeOf(log, type, nth) + 1);

/** Applies several corruptions in order. */
export const all =
  (...corruptions: readonly Corruption[]): Corruption =>
  (log) =>
    corruptions.reduce<NumberedEvent[]>((reported, corruption) => corruption(reported), [...log]);
