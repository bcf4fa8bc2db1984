import type { EventOf, EventType, SessionEvent } from "../../../src/protocol/events";
import type { AgentRules, TeamRules } from "../../../src/protocol/team";
import type { NumberedEvent } from "../../../checker/types";

/**
 * A small change that makes a log incorrect, to test that the checker reports it. Returns a new log
 * whose events are numbered correctly.
 */
export type Corruption = (log: readonly NumberedEvent[]) => NumberedEvent[];

const isType = <T extends EventType>(
  event: NumberedEvent,
  type: T,
): event is EventOf<T> & { sequence_number: number } => event.type === type;

function indexOf(log: readonly NumberedEvent[], type: EventType, nth: number): number {
  const indexes = log.flatMap((event, index) => (event.type === type ? [index] : []));
  const index = indexes.at(nth - 1);
  if (index === undefined) throw new Error(`the log has no ${type} number ${nth}`);
  return index;
}

const withoutNumber = (event: SessionEvent): NumberedEvent => ({ ...event, sequence_number: 0 });

const renumber = (log: readonly SessionEvent[]): NumberedEvent[] =>
  log.map((event, index) => ({ ...event, sequence_number: index + 1 }));

/** Changes the nth event of a type. */
export const changes =
  <T extends EventType>(type: T, change: Partial<EventOf<T>>, nth = 1): Corruption =>
  (log) => {
    const index = indexOf(log, type, nth);
    return log.map((event, other) =>
      other === index && isType(event, type) ? { ...event, ...change } : event,
    );
  };

/** Removes the nth event of a type. */
export const hides =
  (type: EventType, nth = 1): Corruption =>
  (log) =>
    renumber(log.toSpliced(indexOf(log, type, nth), 1));

/** Duplicates the nth event of a type. */
export const repeats =
  (type: EventType, nth = 1): Corruption =>
  (log) => {
    const index = indexOf(log, type, nth);
    return renumber(log.toSpliced(index, 0, ...log.slice(index, index + 1)));
  };

/** Inserts events after the nth event of a type. `make` returns the new events. */
export const adds =
  <T extends EventType>(
    type: T,
    make: (event: EventOf<T>) => readonly SessionEvent[],
    nth = 1,
  ): Corruption =>
  (log) => {
    const index = indexOf(log, type, nth);
    const event = log[index];
    return renumber(
      log.toSpliced(
        index + 1,
        0,
        ...(event && isType(event, type) ? make(event) : []).map(withoutNumber),
      ),
    );
  };

/** The target of a move: before the event of type `before` with the number `beforeNth`. */
type Move = { nth?: number; before: EventType; beforeNth?: number };

/** Moves the nth event of a type before another event, and gives it that event's time. */
export const moves =
  (type: EventType, { nth = 1, before, beforeNth = 1 }: Move): Corruption =>
  (log) => {
    const from = indexOf(log, type, nth);
    const to = indexOf(log, before, beforeNth);
    const moved = log
      .slice(from, from + 1)
      .map((event) => ({ ...event, at: log[to]?.at ?? event.at }));
    return renumber(log.toSpliced(from, 1).toSpliced(to < from ? to : to - 1, 0, ...moved));
  };

/** Appends a copy of an earlier event to the log. */
export const echoesAtEnd =
  (type: EventType): Corruption =>
  (log) => {
    const index = indexOf(log, type, 1);
    const at = log.at(-1)?.at ?? 0;
    return renumber([...log, ...log.slice(index, index + 1).map((event) => ({ ...event, at }))]);
  };

/** Replaces every event of a type. */
export const rewrites =
  <T extends EventType>(type: T, rewrite: (event: EventOf<T>) => EventOf<T>): Corruption =>
  (log) =>
    log.map((event) =>
      isType(event, type) ? { ...rewrite(event), sequence_number: event.sequence_number } : event,
    );

/** Changes the team's rules. */
export const withRules = (change: Partial<TeamRules>): Corruption =>
  rewrites("session.created", (event) => ({ ...event, rules: { ...event.rules, ...change } }));

/** Changes the rules of the agent `id`; without `id`, the rules of all agents. */
export const withAgentRules = (change: Partial<AgentRules>, id?: string): Corruption =>
  rewrites("session.created", ({ rules, ...event }) => {
    const agents = rules.agents.map((agent) =>
      id === undefined || agent.id === id ? { ...agent, ...change } : agent,
    );
    return { ...event, rules: { ...rules, agents } };
  });

/** Delays the nth event of a type and all later events. */
export const delays =
  (type: EventType, ms: number, nth = 1): Corruption =>
  (log) => {
    const index = indexOf(log, type, nth);
    return log.map((event, other) => (other < index ? event : { ...event, at: event.at + ms }));
  };

/** Cuts the log after the nth event of a type. */
export const endsAt =
  (type: EventType, nth = 1): Corruption =>
  (log) =>
    log.slice(0, indexOf(log, type, nth) + 1);

/** Applies several corruptions in order. */
export const all =
  (...corruptions: readonly Corruption[]): Corruption =>
  (log) =>
    corruptions.reduce<NumberedEvent[]>((changed, corruption) => corruption(changed), [...log]);
