import { rulesByTurn } from "../../../checker";
import type { WireEvent } from "../../../src/protocol/events";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { type Situation, toSituation } from "../../../simulated/providers/situation";

/**
 * The data of a run that show which answers its agents saw. The evidence are the requests that
 * reached the providers; claims of the log do not count. Each check of this file returns problems
 * in sentences.
 */
type ExposureRecord = {
  events: readonly WireEvent[];
  /** For each agent, its requests to the providers, in order of arrival. */
  requestsByAgent: ReadonlyMap<string, readonly RecordedRequest[]>;
  /**
   * Whether service and providers have the same time. If the service's clock jumps, it is unknown
   * which requests arrived before an event.
   */
  isClockRight: boolean;
};

/** The key of one agent of a run. It identifies the agent's requests independently of its model. */
export const keyOf = (canary: string, agent: string): string => `${canary}-${agent}`;

/** Requests by the agent whose key they carry. Requests without a known key are under `null`. */
export function groupByAgent(
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

/**
 * Problems of all checks. The agents are those of all turns, because each turn may have its own
 * team. Empty if the log does not name the agents.
 */
export function exposureProblems(
  events: readonly WireEvent[],
  requests: readonly RecordedRequest[],
  { canary, isClockRight }: { canary: string; isClockRight: boolean },
): string[] {
  const teams = [...rulesByTurn(events).values()].map((rules) => rules.agents);
  const agents = [...new Set(teams.flat().map(({ id }) => id))];
  if (agents.length === 0) return [];
  const all = groupByAgent(requests, canary, agents);
  const requestsByAgent = new Map(agents.map((agent) => [agent, all.get(agent) ?? []]));
  const unknownCount = all.get(null)?.length ?? 0;
  const record = { events, requestsByAgent, isClockRight };
  return [
    ...(unknownCount === 0
      ? []
      : [
          `I5: ${unknownCount} requests carried no agent's key, so it is unknown what their agents were shown`,
        ]),
    ...voteProblems(record),
    ...earlyExposureProblems(record),
    ...cutReplyProblems(record),
  ];
}

/** Tolerance between two clocks of one machine, in ms. */
const CLOCK_TOLERANCE_MS = 10;

const offers = ({ asked }: RecordedRequest, name: string): boolean =>
  asked.tools.some((tool) => tool.name === name);

type Answer = Extract<WireEvent, { type: "answer.submitted" }>;

const answersIn = (events: readonly WireEvent[]): Answer[] =>
  events.flatMap((event) => (event.type === "answer.submitted" ? [event] : []));

/** The last of these requests that had arrived at this time. */
const lastRequestBefore = (
  requests: readonly RecordedRequest[],
  at: number,
): RecordedRequest | undefined =>
  requests.findLast(({ startedAt }) => startedAt <= at + CLOCK_TOLERANCE_MS);

/**
 * I5: the request that led to a vote showed the chosen answer under its author's alias, as the
 * author's newest answer. That request is the last one before the vote that offered the vote tool.
 * Earlier requests do not count, because a kill may have interrupted them. If the service's clock
 * was wrong, one request with the answer is enough.
 */
function voteProblems({ events, requestsByAgent, isClockRight }: ExposureRecord): string[] {
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
    const voteRequests = (requestsByAgent.get(vote.agent) ?? []).filter((request) =>
      offers(request, "vote"),
    );
    const last = lastRequestBefore(voteRequests, vote.at);
    const checked = isClockRight ? (last ? [last] : []) : voteRequests;
    const isShown = ({ shown }: Situation) =>
      shown.some((one) => one.alias === alias && one.text === answer?.content.trim());
    return checked.some((request) => isShown(toSituation(request.asked)))
      ? []
      : [`I5: ${vote.agent} voted for ${vote.label}, which its model was not shown`];
  });
}

/**
 * I22: before an agent has its own answer in an attempt, no request to its model contains the
 * answer of another agent, neither as a block nor as text. Requests that offer an answer but no
 * vote are always checked. If the service's clock was right, all requests before the agent's answer
 * are checked too.
 */
function earlyExposureProblems({
  events,
  requestsByAgent,
  isClockRight,
}: ExposureRecord): string[] {
  return [...requestsByAgent].flatMap(([agent, requests]) => {
    const times = isClockRight ? intervalsWithoutAnswer(events, agent) : [];
    const texts = textsOfPeersOnly(events, agent);
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
function intervalsWithoutAnswer(
  events: readonly WireEvent[],
  agent: string,
): { from: number; until: number }[] {
  return events.flatMap((start) => {
    if (start.type !== "attempt.started") return [];
    const attemptEvents = events.filter(
      (event) => "attempt" in event && event.turn === start.turn && event.attempt === start.attempt,
    );
    const first = attemptEvents.find(
      (event) =>
        event.type === "attempt.settled" ||
        (event.type === "answer.submitted" && event.agent === agent),
    );
    return [
      { from: start.at, until: (first?.at ?? Number.POSITIVE_INFINITY) - CLOCK_TOLERANCE_MS },
    ];
  });
}

/**
 * The answers that only other agents wrote. Excludes the agent's own texts. In a run with several
 * attempts, also excludes parts of presented texts, because all agents are shown an earlier result.
 */
function textsOfPeersOnly(events: readonly WireEvent[], agent: string): string[] {
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
 * An answer or a vote never comes from a cut reply: the provider had completed its reply to the
 * agent's last request before that event. Not checked if the service's clock was wrong.
 */
function cutReplyProblems({ events, requestsByAgent, isClockRight }: ExposureRecord): string[] {
  if (!isClockRight) return [];
  return events.flatMap((event) => {
    const isDecision =
      event.type === "vote.cast" || (event.type === "answer.submitted" && event.origin === "tool");
    if (!isDecision) return [];
    const subject = `cut: ${event.type === "vote.cast" ? "a vote" : "an answer"} of ${event.agent}`;
    const reply = (requestsByAgent.get(event.agent) ?? []).findLast(
      ({ startedAt }) => startedAt < event.at,
    );
    if (!reply) return [`${subject}, whose model received no request`];
    return reply.outcome === "completed"
      ? []
      : [`${subject} is based on a reply that was ${reply.outcome} at its provider`];
  });
}
