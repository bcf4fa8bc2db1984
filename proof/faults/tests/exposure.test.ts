import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { exposureProblems } from "../runs/exposure";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { WireEvent } from "../../../src/protocol/events";
import { CANARY, EVENTS, recordedRun, REQUESTS, requestContent } from "./recorded-run";

/**
 * A recorded run keeps the rules about the answers that agents are shown. Each row changes one
 * request, and the run then breaks one rule. In the run, ada answers. During ada's tool call, ada
 * is shown bela's second answer, and then ada votes. Cleo votes twice.
 */
const RIGHT_CLOCK = { canary: CANARY, isClockRight: true };
const WRONG_CLOCK = { canary: CANARY, isClockRight: false };

type Change = (request: RecordedRequest) => RecordedRequest;
/** The recorded requests, with one change: to the n-th request to this model. */
const requestsWith = (model: string, nth: number, change: Change): RecordedRequest[] => {
  const at = REQUESTS.filter((request) => request.model === model)[nth - 1];
  if (!at) throw new Error(`${model} was not asked ${nth} times`);
  return REQUESTS.map((request) => (request === at ? change(request) : request));
};
const [ADA, BELA] = ["model-1", "model-2"] as const;
const DECIDING = ["new_answer", "vote"];
const showAnswers =
  (labels: readonly string[], offers: readonly string[] = DECIDING): Change =>
  (request) => ({ ...request, ...requestContent(labels, offers) });
const FIRST = ["agent1.1", "agent2.1", "agent3.1"];
/** Hides the text in the arguments of a repeated tool call, where no scripted model reads it. */
const hideText =
  (text: string): Change =>
  (request) => ({
    ...request,
    body: { input: [request.body, { call: { arguments: JSON.stringify({ text }) } }] },
  });
const withoutKey: Change = (request) => ({
  ...request,
  headers: { authorization: "Bearer another" },
});
const withOutcome =
  (outcome: RecordedRequest["outcome"]): Change =>
  (request) => ({ ...request, outcome });
const swapped = EVENTS.map((event): WireEvent => {
  return event.type === "turn.started"
    ? { ...event, aliases: { ada: "agent1", bela: "agent3", cleo: "agent2" } }
    : event;
});
const inAttempt = (event: WireEvent, attempt: number): WireEvent =>
  "attempt" in event ? { ...event, attempt } : event;
/** The log with a second attempt that repeats all events of the first attempt a minute later. */
const TWICE: readonly WireEvent[] = [
  ...EVENTS,
  ...EVENTS.filter((event) => "attempt" in event).map((event) => ({
    ...inAttempt(event, 2),
    at: event.at + 60_000,
  })),
];
const later: Change = (request) => ({ ...request, startedAt: request.startedAt + 60_000 });

describe("no problem is found in", () => {
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
        withOutcome("closed")({ ...request, startedAt: request.startedAt - 1 }),
        request,
      ]),
    },
  ])("$name", ({ events, requests }) => {
    expect(exposureProblems(events, requests, RIGHT_CLOCK)).toEqual([]);
    expect(exposureProblems(events, requests, WRONG_CLOCK)).toEqual([]);
  });
});

const UNSEEN = "I5: ada voted for agent2.2, which its model was not shown";
const SHOWN_EARLY = "I22: bela has no answer yet, and its model was";

describe("in a run, finds", () => {
  it.each([
    {
      name: "a vote for an answer that is missing in the prompt after a kill",
      requests: requestsWith(ADA, 3, showAnswers(FIRST)),
      wrong: [UNSEEN],
    },
    {
      name: "a vote for an answer that only an earlier request showed",
      requests: requestsWith(ADA, 3, showAnswers([])).map((one) =>
        one.model === ADA && one.startedAt % 10 === 2 ? showAnswers(["agent2.2"])(one) : one,
      ),
      wrong: [UNSEEN],
    },
    {
      name: "a vote for an answer that only a later request showed",
      requests: requestsWith(BELA, 3, showAnswers(FIRST)),
      wrong: ["I5: bela voted for agent2.2, which its model was not shown"],
    },
    {
      name: "votes for answers shown under another alias",
      events: swapped,
      requests: REQUESTS,
      wrong: ["I5: cleo voted for agent1.1, which its model was not shown"],
    },
    {
      name: "an answer shown to an agent without an own answer",
      requests: requestsWith(BELA, 1, showAnswers(["agent1.1"], ["new_answer"])),
      wrong: [`${SHOWN_EARLY} shown that of agent2`],
    },
    {
      name: "an answer shown to an agent without an own answer that may vote",
      requests: requestsWith(BELA, 1, showAnswers(["agent1.1"])),
      wrong: [`${SHOWN_EARLY} shown that of agent2`],
    },
    {
      name: "another agent's answer anywhere in the body of a request",
      requests: requestsWith(BELA, 1, hideText("Take the road.")),
      wrong: [`${SHOWN_EARLY} sent "Take the road."`],
    },
    {
      name: "an answer in a refused request, of which only the body is known",
      requests: requestsWith(BELA, 1, (request) =>
        hideText("Take the road.")({ ...request, asked: { ...request.asked, tools: [] } }),
      ),
      wrong: [`${SHOWN_EARLY} sent "Take the road."`],
    },
    {
      name: "an answer from a cut reply",
      requests: requestsWith(ADA, 1, withOutcome("closed")),
      wrong: ["cut: an answer of ada is based on a reply that was closed at its provider"],
    },
    {
      name: "a vote from a cut reply",
      requests: requestsWith(ADA, 3, withOutcome("cut")),
      wrong: ["cut: a vote of ada is based on a reply that was cut at its provider"],
    },
    {
      name: "a request without an agent's key",
      requests: requestsWith(BELA, 4, withoutKey),
      wrong: [
        "I5: 1 requests carried no agent's key, so it is unknown what their agents were shown",
      ],
    },
  ])("$name", ({ events = EVENTS, requests, wrong }) => {
    expect(exposureProblems(events, requests, RIGHT_CLOCK)).toEqual(wrong);
  });

  it("if the clock is wrong, only votes for answers that no request showed", () => {
    expect(exposureProblems(EVENTS, requestsWith(ADA, 3, showAnswers(FIRST)), WRONG_CLOCK)).toEqual(
      [UNSEEN],
    );
    expect(
      exposureProblems(EVENTS, requestsWith(ADA, 2, showAnswers(["agent2.2"])), WRONG_CLOCK),
    ).toEqual([]);
    expect(
      exposureProblems(EVENTS, requestsWith(BELA, 1, showAnswers(["agent1.1"])), WRONG_CLOCK),
    ).toEqual([]);
    expect(
      exposureProblems(
        EVENTS,
        requestsWith(BELA, 1, showAnswers(["agent1.1"], ["new_answer"])),
        WRONG_CLOCK,
      ),
    ).toHaveLength(1);
  });
});

it("judging a run includes these checks", async () => {
  const requests = () => requestsWith(ADA, 3, showAnswers(FIRST));
  expect(await judgeRun(recordedRun({ requests, killedAt: [] }))).toEqual([UNSEEN]);
  expect(await judgeRun(recordedRun({ requests, killedAt: null }))).toEqual([UNSEEN]);
});
