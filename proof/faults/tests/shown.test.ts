import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { missshown } from "../runs/shown";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { WireEvent } from "../../../src/protocol/events";
import { CANARY, EVENTS, judged, REQUESTS, sending } from "./recorded-run";

/**
 * What agents were shown, by what reached their providers: a recorded run keeps the rules, and with one request told otherwise it
 * breaks the one that is about that. In it ada answers, votes after a tool and is shown bela's second answer meanwhile; cleo votes twice.
 */
const RIGHT = { canary: CANARY, isClockRight: true };
const WRONG = { canary: CANARY, isClockRight: false };

type Change = (request: RecordedRequest) => RecordedRequest;
/** The requests with one of them changed: an agent's n-th, which its model tells. */
const changed = (model: string, nth: number, change: Change): RecordedRequest[] => {
  const at = REQUESTS.filter((request) => request.model === model)[nth - 1];
  if (!at) throw new Error(`${model} was not asked ${nth} times`);
  return REQUESTS.map((request) => (request === at ? change(request) : request));
};
const [ADA, BELA] = ["model-1", "model-2"] as const;
const DECIDING = ["new_answer", "vote"];
const showing =
  (labels: readonly string[], offers: readonly string[] = DECIDING): Change =>
  (request) => ({ ...request, ...sending(labels, offers) });
const FIRST = ["agent1.1", "agent2.1", "agent3.1"];
/** In a place that no script reads, as an argument of a call that is told again. */
const hiding =
  (text: string): Change =>
  (request) => ({
    ...request,
    body: { input: [request.body, { call: { arguments: JSON.stringify({ text }) } }] },
  });
const ofNobody: Change = (request) => ({
  ...request,
  headers: { authorization: "Bearer another" },
});
const ended =
  (outcome: RecordedRequest["outcome"]): Change =>
  (request) => ({ ...request, outcome });
const swapped = EVENTS.map((event): WireEvent => {
  return event.type === "turn.started"
    ? { ...event, aliases: { ada: "agent1", bela: "agent3", cleo: "agent2" } }
    : event;
});
const again = (event: WireEvent, attempt: number): WireEvent =>
  "attempt" in event ? { ...event, attempt } : event;
/** As if its final had been rejected and all of it had come to pass once more, a minute later. */
const TWICE: readonly WireEvent[] = [
  ...EVENTS,
  ...EVENTS.filter((event) => "attempt" in event).map((event) => ({
    ...again(event, 2),
    at: event.at + 60_000,
  })),
];
const later: Change = (request) => ({ ...request, startedAt: request.startedAt + 60_000 });

describe("nothing is wrong with", () => {
  it.each([
    { name: "a run as it was recorded", events: EVENTS, requests: REQUESTS },
    {
      name: "one of two attempts that came to the same",
      events: TWICE,
      requests: [...REQUESTS, ...REQUESTS.map(later)],
    },
    {
      name: "a call that was cut off, and made again",
      events: EVENTS,
      requests: REQUESTS.flatMap((request) => [
        ended("closed")({ ...request, startedAt: request.startedAt - 1 }),
        request,
      ]),
    },
  ])("$name", ({ events, requests }) => {
    expect(missshown(events, requests, RIGHT)).toEqual([]);
    expect(missshown(events, requests, WRONG)).toEqual([]);
  });
});

const UNSEEN = "I5: ada voted for agent2.2, which its model was not shown";
const PEEKED = "I22: bela has no answer yet, and its model was";

describe("what a run is accused of", () => {
  it.each([
    {
      name: "a vote for an answer that a kill took out of the prompt",
      requests: changed(ADA, 3, showing(FIRST)),
      wrong: [UNSEEN],
    },
    {
      name: "a vote for an answer that only the request before it showed",
      requests: changed(ADA, 3, showing([])).map((one) =>
        one.model === ADA && one.startedAt % 10 === 2 ? showing(["agent2.2"])(one) : one,
      ),
      wrong: [UNSEEN],
    },
    {
      name: "one that only what came after the vote showed",
      requests: changed(BELA, 3, showing(FIRST)),
      wrong: ["I5: bela voted for agent2.2, which its model was not shown"],
    },
    {
      name: "votes for answers shown as somebody else's",
      events: swapped,
      requests: REQUESTS,
      wrong: ["I5: cleo voted for agent1.1, which its model was not shown"],
    },
    {
      name: "an answer shown to one that has none",
      requests: changed(BELA, 1, showing(["agent1.1"], ["new_answer"])),
      wrong: [`${PEEKED} shown that of agent2`],
    },
    {
      name: "and that may vote already",
      requests: changed(BELA, 1, showing(["agent1.1"])),
      wrong: [`${PEEKED} shown that of agent2`],
    },
    {
      name: "an answer somewhere in what it is sent",
      requests: changed(BELA, 1, hiding("Take the road.")),
      wrong: [`${PEEKED} sent "Take the road."`],
    },
    {
      name: "one of a request that was refused, of which only the bytes are known",
      requests: changed(BELA, 1, (request) =>
        hiding("Take the road.")({ ...request, asked: { ...request.asked, tools: [] } }),
      ),
      wrong: [`${PEEKED} sent "Take the road."`],
    },
    {
      name: "an answer of which the reply was cut",
      requests: changed(ADA, 1, ended("closed")),
      wrong: ["cut: an answer of ada came of a reply that was closed at its provider"],
    },
    {
      name: "a vote of which the reply was cut",
      requests: changed(ADA, 3, ended("cut")),
      wrong: ["cut: a vote of ada came of a reply that was cut at its provider"],
    },
    {
      name: "a request that brings nobody's key",
      requests: changed(BELA, 4, ofNobody),
      wrong: [
        "I5: 1 requests brought no agent's key, so nobody knows what their agents were shown",
      ],
    },
  ])("$name", ({ events = EVENTS, requests, wrong }) => {
    expect(missshown(events, requests, RIGHT)).toEqual(wrong);
  });

  it("where the service's clock was wrong, only what no request shows", () => {
    expect(missshown(EVENTS, changed(ADA, 3, showing(FIRST)), WRONG)).toEqual([UNSEEN]);
    expect(missshown(EVENTS, changed(ADA, 2, showing(["agent2.2"])), WRONG)).toEqual([]);
    expect(missshown(EVENTS, changed(BELA, 1, showing(["agent1.1"])), WRONG)).toEqual([]);
    expect(
      missshown(EVENTS, changed(BELA, 1, showing(["agent1.1"], ["new_answer"])), WRONG),
    ).toHaveLength(1);
  });
});

it("who judges runs looks at it", async () => {
  const requests = () => changed(ADA, 3, showing(FIRST));
  expect(await judgeRun(judged({ requests, killedAt: [] }))).toEqual([UNSEEN]);
  expect(await judgeRun(judged({ requests, killedAt: null }))).toEqual([UNSEEN]);
});
