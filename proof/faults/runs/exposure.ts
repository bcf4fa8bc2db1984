import type { WireEvent } from "../../../src/protocol/events";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { type Situation, toSituation } from "../../../simulated/providers/situation";

/**
 * A run for checks of what agents were shown. The requests that reached the providers are the
 * evidence; the log's own claims do not count. Each check returns problems in sentences.
 */
type ExposureRecord = {
  events: readonly WireEvent[];
  /** Requests to the providers by agent, in order of arrival. */
  asked: ReadonlyMap<string, readonly RecordedRequest[]>;
  /**
   * Whether service and providers share a clock. If the service's clock jumps, no request is known
   * to precede an event.
   */
  isClockRight: boolean;
};

/** The key of one agent of a run. It identifies the agent's requests independently of its model. */
export const keyOf = (canary: string, agent: string): string => `${canary}-${agent}`;

/** Requests by the agent whose key they carry. Requests without a known key are under `null`. */
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

/** Problems of all checks; none if the team is unknown. */
export function exposureProblems(
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
  const unknownCount = all.get(null)?.length ?? 0;
  const record = { events, asked, isClockRight };
  return [
    ...(unknownCount === 0
      ? []
      : [
          `I5: ${unknownCount} requests carried no agent's key, so it is unknown what their agents were shown`,
        ]),
    ...votesForUnseen(record),
    ...earlyExposures(record),
    ...decisionsFromCutReplies(record),
  ];
}

/** Tolerance between two clocks of one machine, in ms. */
const APART_MS = 10;

const offers = ({ asked }: RecordedRequest, name: string): boolean =>
  asked.tools.some((tool) => tool.name === name);

type Answer = Extract<WireEvent, { type: "answer.submitted" }>;

const answersIn = (events: readonly WireEvent[]): Answer[] =>
  events.flatMap((event) => (event.type === "answer.submitted" ? [event] : []));

/** The agent's last request that had arrived by then. */
const lastBy = (requests: readonly RecordedRequest[], at: number): RecordedRequest | undefined =>
  requests.findLast(({ startedAt }) => startedAt <= at + APART_MS);

/**
 * I5: the request that led to a vote showed the chosen answer, under its author's alias and as its
 * newest. This is the last request before the vote that offered to vote; after a kill, earlier ones
 * may not count. If the service's clock was wrong, any of them counts.
 */
function votesForUnseen({ events, asked, isClockRight }: ExposureRecord): string[] {
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
 * I22: until an agent has its own answer in an attempt, no request to it contains another's answer,
 * neither as a block nor as text. Such requests offer to answer and not to vote. If the service's
 * clock was right, all requests before the answer are checked too.
 */
function earlyExposures({ events, asked, isClockRight }: ExposureRecord): string[] {
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

/** The intervals in which an agent had no answer, per attempt, Unix ms. */
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
 * Texts that only peers of this agent wrote, in one attempt only. Excludes its own texts, and with
 * several attempts any part of an earlier result, which all agents are shown.
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

/** All strings in a JSON value. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/**
 * A cut reply never counts: the provider sent the whole reply to the last request before an answer
 * or a vote. Unknown if the service's clock was wrong.
 */
function decisionsFromCutReplies({ events, asked, isClockRight }: ExposureRecord): string[] {
  if (!isClockRight) return [];
  return events.flatMap((event) => {
    const isSaid =
      event.type === "vote.cast" || (event.type === "answer.submitted" && event.origin === "tool");
    if (!isSaid) return [];
    const what = `cut: ${event.type === "vote.cast" ? "a vote" : "an answer"} of ${event.agent}`;
    const reply = (asked.get(event.agent) ?? []).findLast(({ startedAt }) => startedAt < event.at);
    if (!reply) return [`${what}, whose model received no request`];
    return reply.outcome === "completed"
      ? []
      : [`${what} is based on a reply that was ${reply.outcome} at its provider`];
  });
}
