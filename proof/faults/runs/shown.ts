import type { WireEvent } from "../../../src/protocol/events";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { type Situation, toSituation } from "../../../simulated/providers/situation";

/**
 * What agents were shown and what counted of them, by the requests that reached their providers: the log's own word for it counts for
 * nothing. Each rule gives sentences; none means that it was kept.
 */
export type Witnessed = {
  events: readonly WireEvent[];
  /** What reached the providers, by the agent that asked, in order of arrival. */
  asked: ReadonlyMap<string, readonly RecordedRequest[]>;
  /** Whether the service was told the time that the providers go by. Where its clock jumps, no request is known to be before an event. */
  isClockRight: boolean;
};

/** The key of one agent of a run, by which its requests are known whatever model it has. */
export const keyOf = (canary: string, agent: string): string => `${canary}-${agent}`;

/** Requests by the agent whose key they bring. Those that bring nobody's are under `null`. */
export function byAgent(
  requests: readonly RecordedRequest[],
  canary: string,
  agents: readonly string[],
): Map<string | null, RecordedRequest[]> {
  return Map.groupBy(requests, ({ headers }) => {
    const sent = Object.values(headers);
    return (
      agents.find((agent) =>
        sent.some((value) => value.split(" ").at(-1) === keyOf(canary, agent)),
      ) ?? null
    );
  });
}

/** All rules, of the requests of a run; none if its team was never seen. */
export function missshown(
  events: readonly WireEvent[],
  requests: readonly RecordedRequest[],
  { canary, isClockRight }: { canary: string; isClockRight: boolean },
): string[] {
  const agents = events.flatMap((event) =>
    event.type === "session.created" ? event.rules.agents.map(({ id }) => id) : [],
  );
  if (agents.length === 0) return [];
  const all = byAgent(requests, canary, agents);
  const asked = new Map(agents.map((agent) => [agent, all.get(agent) ?? []]));
  const nobodys = all.get(null)?.length ?? 0;
  const witnessed = { events, asked, isClockRight };
  return [
    ...(nobodys === 0
      ? []
      : [
          `I5: ${nobodys} requests brought no agent's key, so nobody knows what their agents were shown`,
        ]),
    ...unshown(witnessed),
    ...peeked(witnessed),
    ...halfSaid(witnessed),
  ];
}

/** By so much two clocks of one machine may differ, in ms. */
const APART_MS = 10;

const offers = ({ asked }: RecordedRequest, name: string): boolean =>
  asked.tools.some((tool) => tool.name === name);

type Answer = Extract<WireEvent, { type: "answer.submitted" }>;

const answersIn = (events: readonly WireEvent[]): Answer[] =>
  events.flatMap((event) => (event.type === "answer.submitted" ? [event] : []));

/** The last of an agent's requests that had come by then. */
const lastBy = (requests: readonly RecordedRequest[], at: number): RecordedRequest | undefined =>
  requests.findLast(({ startedAt }) => startedAt <= at + APART_MS);

/**
 * I5: the request that a vote came of showed the answer voted for, under its author's alias and as its newest. It is the last one
 * before the vote that offered to vote: after a kill, what an earlier one showed is known to nobody. Where the service's clock
 * was wrong, one of them did.
 */
export function unshown({ events, asked, isClockRight }: Witnessed): string[] {
  return events.flatMap((vote) => {
    if (vote.type !== "vote.cast") return [];
    const answer = answersIn(events).find(
      ({ turn, attempt, label }) =>
        turn === vote.turn && attempt === vote.attempt && label === vote.label,
    );
    const alias = events.flatMap((event) =>
      event.type === "turn.started" && event.turn === vote.turn
        ? [event.aliases[answer?.agent ?? ""]]
        : [],
    )[0];
    const voting = (asked.get(vote.agent) ?? []).filter((request) => offers(request, "vote"));
    const last = lastBy(voting, vote.at);
    const due = isClockRight ? (last ? [last] : []) : voting;
    const isShown = ({ shown }: Situation) =>
      shown.some((one) => one.alias === alias && one.text === answer?.content.trim());
    return due.some((request) => isShown(toSituation(request.asked)))
      ? []
      : [`I5: ${vote.agent} voted for ${vote.label}, which its model was not shown`];
  });
}

/**
 * I22: what an agent was sent until it had an answer of its own in an attempt holds nobody's answer: no block of one, and nowhere the
 * text of another's. Requests that offer to answer and not to vote are such by themselves; where the service's clock was
 * right, so is each that came before the answer.
 */
export function peeked({ events, asked, isClockRight }: Witnessed): string[] {
  return [...asked].flatMap(([agent, requests]) => {
    const times = isClockRight ? withoutAnswer(events, agent) : [];
    const texts = strange(events, agent);
    const isFirst = (request: RecordedRequest): boolean =>
      (offers(request, "new_answer") && !offers(request, "vote")) ||
      times.some(({ from, until }) => request.startedAt >= from && request.startedAt < until);
    return requests.filter(isFirst).flatMap((request) => {
      const [block] = toSituation(request.asked).shown;
      if (block)
        return [`I22: ${agent} has no answer yet, and its model was shown that of ${block.alias}`];
      const sent = stringsIn(request.body);
      const found = texts.find((text) => sent.some((one) => one.includes(text)));
      return found === undefined
        ? []
        : [`I22: ${agent} has no answer yet, and its model was sent ${JSON.stringify(found)}`];
    });
  });
}

/** From when until when an agent had no answer, in each attempt, Unix ms. */
function withoutAnswer(
  events: readonly WireEvent[],
  agent: string,
): { from: number; until: number }[] {
  return events.flatMap((start) => {
    if (start.type !== "attempt.started") return [];
    const ofAttempt = events.filter(
      (event) => "attempt" in event && event.turn === start.turn && event.attempt === start.attempt,
    );
    const first = ofAttempt.find(
      (event) =>
        event.type === "attempt.settled" ||
        (event.type === "answer.submitted" && event.agent === agent),
    );
    return [{ from: start.at, until: (first?.at ?? Number.POSITIVE_INFINITY) - APART_MS }];
  });
}

/**
 * Texts that an agent may know of its peers alone, and of no attempt but the one they are of: not what it wrote itself, and, where
 * there is more than one attempt, no part of what an earlier one came to, which is shown to all.
 */
function strange(events: readonly WireEvent[], agent: string): string[] {
  const isRepeated = events.filter(({ type }) => type === "attempt.started").length > 1;
  const known = events.flatMap((event) => {
    if (event.type === "answer.submitted") return event.agent === agent ? [event.content] : [];
    return isRepeated && event.type === "presentation.completed" ? [event.content] : [];
  });
  const texts = answersIn(events).map(({ content }) => content.trim());
  return [...new Set(texts)].filter(
    (text) => text !== "" && !known.some((one) => one.includes(text)),
  );
}

/** Every text in a value of JSON, however deep. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/**
 * Nothing of a cut reply counts: an answer and a vote come of the agent's last request before them, and its provider sent the reply to
 * it to its end. Nobody knows which that was where the service's clock was wrong.
 */
export function halfSaid({ events, asked, isClockRight }: Witnessed): string[] {
  if (!isClockRight) return [];
  return events.flatMap((event) => {
    const isSaid =
      event.type === "vote.cast" || (event.type === "answer.submitted" && event.origin === "tool");
    if (!isSaid) return [];
    const what = `cut: ${event.type === "vote.cast" ? "a vote" : "an answer"} of ${event.agent}`;
    const reply = (asked.get(event.agent) ?? []).findLast(({ startedAt }) => startedAt < event.at);
    if (!reply) return [`${what}, whose model was asked nothing`];
    return reply.outcome === "completed"
      ? []
      : [`${what} came of a reply that was ${reply.outcome} at its provider`];
  });
}
