import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { exposureProblems } from "../runs/exposure";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { WireEvent } from "../../../src/protocol/events";
import { CANARY, EVENTS, recordedRun, REQUESTS, sending } from "./recorded-run";

/**
 * A recorded run keeps the rules about what agents are shown; with one request changed it breaks
 * one rule. In the run ada answers, votes after a tool call and is shown bela's second answer
 * meanwhile; cleo votes twice.
 */
const RIGHT = { canary: CANARY, isClockRight: true };
const WRONG = { canary: CANARY, isClockRight: false };

type Change = (request: RecordedRequest) => RecordedRequest;
/** The requests with one changed: the n-th request to this model. */
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
/** Hides the text where no script reads it: in the arguments of a repeated call. */
const hiding =
  (text: string): Change =>
  (request) => ({
    ...request,
    body: { input: [request.body, { call: { arguments: JSON.stringify({ text }) } }] },
  });
const withoutKey: Change = (request) => ({
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
/** As if the first final had been rejected and everything had happened again a minute later. */
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
    { name: "a recorded run", events: EVENTS, requests: REQUESTS },
    {
      name: "a run of two equal attempts",
      events: TWICE,
      requests: [...REQUESTS, ...REQUESTS.map(later)],
    },
    {
      name: "an interrupted and repeated call",
      events: EVENTS,
      requests: REQUESTS.flatMap((request) => [
        ended("closed")({ ...request, startedAt: request.startedAt - 1 }),
        request,
      ]),
    },
  ])("$name", ({ events, requests }) => {
    expect(exposureProblems(events, requests, RIGHT)).toEqual([]);
    expect(exposureProblems(events, requests, WRONG)).toEqual([]);
  });
});

const UNSEEN = "I5: ada voted for agent2.2, which its model was not shown";
const PEEKED = "I22: bela has no answer yet, and its model was";

describe("problems of a run", () => {
  it.each([
    {
      name: "a vote for an answer that is missing in the prompt after a kill",
      requests: changed(ADA, 3, showing(FIRST)),
      wrong: [UNSEEN],
    },
    {
      name: "a vote for an answer that only an earlier request showed",
      requests: changed(ADA, 3, showing([])).map((one) =>
        one.model === ADA && one.startedAt % 10 === 2 ? showing(["agent2.2"])(one) : one,
      ),
      wrong: [UNSEEN],
    },
    {
      name: "a vote for an answer that only a later request showed",
      requests: changed(BELA, 3, showing(FIRST)),
      wrong: ["I5: bela voted for agent2.2, which its model was not shown"],
    },
    {
      name: "votes for answers shown under another alias",
      events: swapped,
      requests: REQUESTS,
      wrong: ["I5: cleo voted for agent1.1, which its model was not shown"],
    },
    {
      name: "an answer shown to an agent without one",
      requests: changed(BELA, 1, showing(["agent1.1"], ["new_answer"])),
      wrong: [`${PEEKED} shown that of agent2`],
    },
    {
      name: "an answer shown to an agent without one that may vote",
      requests: changed(BELA, 1, showing(["agent1.1"])),
      wrong: [`${PEEKED} shown that of agent2`],
    },
    {
      name: "an answer anywhere in a request",
      requests: changed(BELA, 1, hiding("Take the road.")),
      wrong: [`${PEEKED} sent "Take the road."`],
    },
    {
      name: "an answer in a refused request, of which only the body is known",
      requests: changed(BELA, 1, (request) =>
        hiding("Take the road.")({ ...request, asked: { ...request.asked, tools: [] } }),
      ),
      wrong: [`${PEEKED} sent "Take the road."`],
    },
    {
      name: "an answer from a cut reply",
      requests: changed(ADA, 1, ended("closed")),
      wrong: ["cut: an answer of ada is based on a reply that was closed at its provider"],
    },
    {
      name: "a vote from a cut reply",
      requests: changed(ADA, 3, ended("cut")),
      wrong: ["cut: a vote of ada is based on a reply that was cut at its provider"],
    },
    {
      name: "a request without an agent's key",
      requests: changed(BELA, 4, withoutKey),
      wrong: [
        "I5: 1 requests carried no agent's key, so it is unknown what their agents were shown",
      ],
    },
  ])("$name", ({ events = EVENTS, requests, wrong }) => {
    expect(exposureProblems(events, requests, RIGHT)).toEqual(wrong);
  });

  it("with a wrong clock, only answers that no request shows", () => {
    expect(exposureProblems(EVENTS, changed(ADA, 3, showing(FIRST)), WRONG)).toEqual([UNSEEN]);
    expect(exposureProblems(EVENTS, changed(ADA, 2, showing(["agent2.2"])), WRONG)).toEqual([]);
    expect(exposureProblems(EVENTS, changed(BELA, 1, showing(["agent1.1"])), WRONG)).toEqual([]);
    expect(
      exposureProblems(EVENTS, changed(BELA, 1, showing(["agent1.1"], ["new_answer"])), WRONG),
    ).toHaveLength(1);
  });
});

it("judging a run includes these checks", async () => {
  const requests = () => changed(ADA, 3, showing(FIRST));
  expect(await judgeRun(recordedRun({ requests, killedAt: [] }))).toEqual([UNSEEN]);
  expect(await judgeRun(recordedRun({ requests, killedAt: null }))).toEqual([UNSEEN]);
});
