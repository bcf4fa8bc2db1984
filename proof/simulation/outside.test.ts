import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { problemsOf, SITUATION } from "./correct-run";
import type { Fault } from "./engine/faults";
import { play } from "./engine/judge";
import { MARK } from "./engine/model";
import type { ReceivedRequest } from "./engine/received-request";
import type { RunRecord } from "./engine/run-record";

let run: RunRecord;
beforeAll(async () => {
  run = await play(SITUATION);
});

describe("the requests that providers and tool servers receive", () => {
  it("include requests for the rest of replies that a crash interrupted", async () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { platform } = await play({ ...SITUATION, seed, faults: ["crash_in_stream"] });
      for (const { kind } of platform.providers.received) kinds.add(kind);
    }
    expect([...kinds]).toEqual(expect.arrayContaining(["reply", "rest"]));
  });

  const LOOK_UP = {
    ...{ key: "1", turn: 1, attempt: 1, agent: "writer-canary-0x", round: 1, tool_call: "toolu_1" },
    ...{ name: "look_up", answered: true, relay: 0 },
  };
  type RequestKind = ReceivedRequest["kind"] | "tool";
  type AddedRequests = { kinds: readonly RequestKind[]; sentAt: number; isEndless?: boolean };

  /**
   * Whether the run violates the invariant with additional requests. Each is open for a second, or
   * until the end of the run if `isEndless` is set.
   */
  function violates(
    invariant: string,
    { kinds, sentAt, isEndless = false }: AddedRequests,
    changed = run,
  ): boolean {
    const { providers, tools } = run.platform;
    const [reply] = providers.received;
    if (!reply) throw new Error("the run sent no request to a provider");
    const times = { sentAt, headersAt: sentAt + 900, endedAt: isEndless ? null : sentAt + 1_000 };
    const [replies, calls] = [providers.received.length, tools.received.length];
    for (const kind of kinds) {
      if (kind === "tool") tools.received.push({ ...LOOK_UP, ...times });
      else providers.received.push({ ...reply, kind, relay: 0, ...times });
    }
    const problems = problemsOf(invariant, changed);
    providers.received.splice(replies);
    tools.received.splice(calls);
    return problems.length > 0;
  }

  const five = <T extends RequestKind>(kind: T): T[] => Array.from({ length: 5 }, () => kind);

  it.each([
    {
      name: "five resumed replies that wait for headers at the same time violate I14",
      kinds: five("rest"),
      wrong: true,
    },
    {
      name: "four resumed replies that wait at the same time do not violate I14",
      kinds: five("rest").slice(1),
      wrong: false,
    },
    {
      name: "five requests that stop a reply do not violate I14",
      kinds: five("stop"),
      wrong: false,
    },
    {
      name: "four replies and a tool call that wait at the same time violate I14",
      kinds: [...five("reply").slice(1), "tool"],
      wrong: true,
    },
    {
      name: "two replies and two tool calls that wait at the same time do not violate I14",
      kinds: ["reply", "tool", "rest", "tool"],
      wrong: false,
    },
    {
      name: "five tool calls that wait at the same time violate I14",
      kinds: five("tool"),
      wrong: true,
    },
  ] as const)("$name", ({ kinds, wrong }) => {
    expect(violates("I14", { kinds, sentAt: run.endedAt + 10_000 })).toBe(wrong);
  });

  it.each([
    { name: "a request for a reply violates I15", kind: "reply", wrong: true },
    { name: "a request for the rest of a reply violates I15", kind: "rest", wrong: true },
    { name: "a request that stops a reply does not violate I15", kind: "stop", wrong: false },
    { name: "a tool call violates I15", kind: "tool", wrong: true },
  ] as const)("after a cancel, $name", ({ kind, wrong }) => {
    const at = run.endedAt + 10_000;
    const cancelled = {
      ...run,
      cancels: [{ at, head: run.log.length, turn: 1, status: "cancelled" }],
    };
    expect(violates("I15", { kinds: [kind], sentAt: at + 1 }, cancelled)).toBe(wrong);
  });

  it.each([
    { name: "a reply that stays open violates I15", kind: "reply", wrong: true },
    { name: "a resumed reply that stays open violates I15", kind: "rest", wrong: true },
    {
      name: "a request that stops a reply and stays open does not violate I15",
      kind: "stop",
      wrong: false,
    },
    { name: "a tool call that stays open violates I15", kind: "tool", wrong: true },
  ] as const)("after a cancel, $name", ({ kind, wrong }) => {
    const at = run.endedAt + 10_000;
    const cancelled = {
      ...run,
      cancels: [{ at, head: run.log.length, turn: 1, status: "cancelled" }],
    };
    expect(violates("I15", { kinds: [kind], sentAt: at, isEndless: true }, cancelled)).toBe(wrong);
  });
});

it("tool servers send headers with their first message; a request ends with the result, a crash or an abort", async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const faults: Fault[] = seed % 2 === 0 ? ["crash_in_tool", "tool_slow", "tool_lost"] : [];
    const { platform } = await play({ ...SITUATION, seed, habits: ["tools", "cancel"], faults });
    for (const { sentAt, headersAt, endedAt, answered } of platform.tools.received) {
      if (endedAt === null) throw new Error("a request is open although the run is over");
      expect([sentAt, headersAt ?? endedAt, endedAt]).toEqual(
        [sentAt, headersAt ?? endedAt, endedAt].toSorted((a, b) => a - b),
      );
      if (answered)
        met.add(headersAt === endedAt ? "an answer at once" : "an answer after notifications");
      else if (platform.deaths.some(({ at }) => at === endedAt)) met.add("a crash");
      else met.add("no answer");
    }
  }
  const endings = ["an answer at once", "an answer after notifications", "a crash", "no answer"];
  expect([...met].toSorted()).toEqual(endings.toSorted());
});

describe("the texts that agents receive", () => {
  const marks = (text: string): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);

  /**
   * The winner's own vote: its index in the log, the mark of the chosen answer, and all requests of
   * the winner. The winner receives every answer again when it presents.
   */
  function voteOfWinner(): { at: number; mark: string; requests: ReceivedRequest[] } {
    const { log, platform } = run;
    const winner = log.find(({ type }) => type === "presentation.started");
    if (winner?.type !== "presentation.started") throw new Error("no agent presented");
    const at = log.findLastIndex(
      (event) => event.type === "vote.cast" && event.agent === winner.agent,
    );
    const vote = log[at];
    const voted = log.find(
      (event) =>
        event.type === "answer.submitted" &&
        vote?.type === "vote.cast" &&
        event.label === vote.label,
    );
    if (voted?.type !== "answer.submitted") throw new Error("the winner did not vote");
    const own = new Set(
      log.flatMap((event) =>
        event.type === "call.started" && event.agent === winner.agent ? [event.call] : [],
      ),
    );
    return {
      at,
      mark: marks(voted.content).at(-1) ?? "",
      requests: platform.providers.received.filter(({ call }) => own.has(call)),
    };
  }

  /** Whether the run violates the invariant if these requests had another body. */
  function violates(
    invariant: string,
    requests: readonly ReceivedRequest[],
    body: (request: ReceivedRequest) => string,
  ): boolean {
    const bodies = requests.map((request) => request.body);
    for (const request of requests) request.body = body(request);
    const problems = problemsOf(invariant, run);
    for (const [nth, request] of requests.entries()) request.body = bodies[nth] ?? "";
    return problems.length > 0;
  }

  it.each([
    { name: "never received the answer is a violation", isLeftOut: () => true, wrong: true },
    {
      name: "received the answer only after the vote is a violation",
      isLeftOut: (isBefore: boolean) => isBefore,
      wrong: true,
    },
    {
      name: "received the answer only before the vote is correct",
      isLeftOut: (isBefore: boolean) => !isBefore,
      wrong: false,
    },
  ])("I5-shown: a vote of an agent that $name", ({ isLeftOut, wrong }) => {
    const { at, mark, requests } = voteOfWinner();
    const before = new Set(
      run.log.slice(0, at).flatMap((event) => (event.type === "call.started" ? [event.call] : [])),
    );
    for (const isBefore of [true, false]) {
      expect(
        requests.some(({ call, body }) => before.has(call) === isBefore && body.includes(mark)),
      ).toBe(true);
    }
    const changed = requests.filter(({ call }) => isLeftOut(before.has(call)));
    expect(violates("I5-shown", changed, ({ body }) => body.replaceAll(mark, ""))).toBe(wrong);
  });

  it.each([
    {
      name: "may not contain another agent's answer of this attempt",
      mark: "zq1x1x2x1x1zq",
      wrong: true,
    },
    {
      name: "may contain another agent's answer of the previous turn",
      mark: "zq0x1x2x1x1zq",
      wrong: false,
    },
    { name: "may contain the agent's own text", mark: "zq1x1x1x1x1zq", wrong: false },
  ])("I22: the first request of an agent $name", ({ mark, wrong }) => {
    const first = run.platform.providers.received
      .filter(({ call }) => call.startsWith("call_1_1_1_"))
      .slice(0, 1);
    expect(first).toHaveLength(1);
    expect(marks(mark)).toEqual([mark]);
    expect(violates("I22", first, ({ body }) => `${body} ${mark}`)).toBe(wrong);
  });
});

describe("a confirmation to the user", () => {
  const cancels = (turn: number, status: string) => [
    { at: run.endedAt, head: run.log.length, turn, status },
  ];

  it.each([
    {
      name: "of a turn that is not in the log violates I2",
      corruption: () => ({ ...run, acknowledged: [...run.acknowledged, 2] }),
      wrong: true,
    },
    {
      name: "of a turn that is in the log does not violate I2",
      corruption: () => run,
      wrong: false,
    },
    {
      name: "that a turn was cancelled violates I2 if the turn never ended",
      corruption: () => ({ ...run, cancels: cancels(2, "cancelled") }),
      wrong: true,
    },
    {
      name: "that a turn was cancelled violates I2 if the turn completed",
      corruption: () => ({ ...run, cancels: cancels(1, "cancelled") }),
      wrong: true,
    },
    {
      name: "that a turn completed before its cancel does not violate I2",
      corruption: () => ({ ...run, cancels: cancels(1, "completed") }),
      wrong: false,
    },
    {
      name: "that a turn is running after its cancel violates I2",
      corruption: () => ({ ...run, cancels: cancels(1, "running") }),
      wrong: true,
    },
  ])("$name", ({ corruption, wrong }) => {
    expect(run.acknowledged).toEqual([1]);
    expect(problemsOf("I2", corruption()).length > 0).toBe(wrong);
  });
});

it("a turn that ends with an internal error is an unhandled error", () => {
  const end = run.log.at(-1);
  if (end?.type !== "turn.completed") throw new Error("the run did not complete");
  const { usage, cost_usd, ...place } = end;
  const failure: NumberedEvent = {
    ...place,
    type: "turn.failed",
    code: "internal",
    message: "",
    agents: [],
    usage,
    cost_usd,
  };
  expect(problemsOf("unhandled", { ...run, log: [...run.log.slice(0, -1), failure] })).not.toEqual(
    [],
  );
});
