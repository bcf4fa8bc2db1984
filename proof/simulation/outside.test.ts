import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { problemsOf, SITUATION } from "./correct-run";
import type { Fault } from "./engine/faults";
import { play } from "./engine/judge";
import { MARK } from "./engine/model";
import type { ReceivedRequest } from "./engine/providers";
import type { RunRecord } from "./engine/run-record";

let run: RunRecord;
beforeAll(async () => {
  run = await play(SITUATION);
});

describe("requests that reached providers", () => {
  it("include replies that were resumed after a crash", async () => {
    const asked = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { platform } = await play({ ...SITUATION, seed, faults: ["crash_in_stream"] });
      for (const { kind } of platform.providers.received) asked.add(kind);
    }
    expect([...asked]).toEqual(expect.arrayContaining(["reply", "rest"]));
  });

  const LOOK_UP = {
    ...{ key: "1", turn: 1, attempt: 1, agent: "writer-canary-0x", round: 1, tool_call: "toolu_1" },
    ...{ name: "look_up", answered: true },
  };
  type Asks = ReceivedRequest["kind"] | "tool";
  type Also = { asks: readonly Asks[]; sentAt: number; isEndless?: boolean };

  /**
   * Whether the run violates the invariant with these additional requests, each open for a second
   * or endless.
   */
  function breaks(
    invariant: string,
    { asks, sentAt, isEndless = false }: Also,
    changed = run,
  ): boolean {
    const { providers, tools } = run.platform;
    const [reply] = providers.received;
    if (!reply) throw new Error("the run sent no request to a provider");
    const times = { sentAt, headersAt: sentAt + 900, endedAt: isEndless ? null : sentAt + 1_000 };
    const [replies, calls] = [providers.received.length, tools.received.length];
    for (const one of asks) {
      if (one === "tool") tools.received.push({ ...LOOK_UP, ...times });
      else providers.received.push({ ...reply, kind: one, ...times });
    }
    const problems = problemsOf(invariant, changed);
    providers.received.splice(replies);
    tools.received.splice(calls);
    return problems.length > 0;
  }

  const five = <T extends Asks>(asks: T): T[] => Array.from({ length: 5 }, () => asks);

  it.each([
    {
      name: "five resumed replies wait for headers at once",
      asks: five("rest"),
      wrong: true,
    },
    { name: "four do", asks: five("rest").slice(1), wrong: false },
    { name: "five are stopped", asks: five("stop"), wrong: false },
    {
      name: "four replies and a tool wait for headers at once",
      asks: [...five("reply").slice(1), "tool"],
      wrong: true,
    },
    { name: "two of each do", asks: ["reply", "tool", "rest", "tool"], wrong: false },
    { name: "five tools do", asks: five("tool"), wrong: true },
  ] as const)("I14: $name", ({ asks, wrong }) => {
    expect(breaks("I14", { asks, sentAt: run.endedAt + 10_000 })).toBe(wrong);
  });

  it.each([
    { name: "a reply is requested", asks: "reply", wrong: true },
    { name: "a reply is resumed", asks: "rest", wrong: true },
    { name: "a reply is stopped", asks: "stop", wrong: false },
    { name: "a tool is called", asks: "tool", wrong: true },
  ] as const)("I15: after a cancel $name", ({ asks, wrong }) => {
    const at = run.endedAt + 10_000;
    const cancelled = {
      ...run,
      cancels: [{ at, head: run.log.length, turn: 1, status: "cancelled" }],
    };
    expect(breaks("I15", { asks: [asks], sentAt: at + 1 }, cancelled)).toBe(wrong);
  });

  it.each([
    { name: "a reply in progress stays open", asks: "reply", wrong: true },
    { name: "a resumed reply stays open", asks: "rest", wrong: true },
    {
      name: "a stop request sent at the moment of the cancel stays open",
      asks: "stop",
      wrong: false,
    },
    { name: "a tool's request in progress stays open", asks: "tool", wrong: true },
  ] as const)("I15: after a cancel $name", ({ asks, wrong }) => {
    const at = run.endedAt + 10_000;
    const cancelled = {
      ...run,
      cancels: [{ at, head: run.log.length, turn: 1, status: "cancelled" }],
    };
    expect(breaks("I15", { asks: [asks], sentAt: at, isEndless: true }, cancelled)).toBe(wrong);
  });
});

it("requests to tool servers get headers with their first message, and end with the result, the process, or an abort", async () => {
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
      else if (platform.deaths.some(({ at }) => at === endedAt)) met.add("a death");
      else met.add("no answer");
    }
  }
  const due = ["an answer at once", "an answer after notifications", "a death", "no answer"];
  expect([...met].toSorted()).toEqual(due.toSorted());
});

describe("texts that agents were sent", () => {
  const marks = (text: string): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);

  /**
   * The winner's own vote and the winner's calls. The winner is sent every answer again when it
   * presents.
   */
  function winnersVote(): { at: number; mark: string; sent: ReceivedRequest[] } {
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
      sent: platform.providers.received.filter(({ call }) => own.has(call)),
    };
  }

  /** Whether the run violates the invariant if these requests had another body. */
  function breaks(
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
    { name: "was never sent", isLeftOut: () => true, wrong: true },
    {
      name: "was sent only after its vote",
      isLeftOut: (isBefore: boolean) => isBefore,
      wrong: true,
    },
    {
      name: "was sent before its vote and not again",
      isLeftOut: (isBefore: boolean) => !isBefore,
      wrong: false,
    },
  ])(
    "I5-shown: an agent votes for an answer that it $name: wrong $wrong",
    ({ isLeftOut, wrong }) => {
      const { at, mark, sent } = winnersVote();
      const before = new Set(
        run.log
          .slice(0, at)
          .flatMap((event) => (event.type === "call.started" ? [event.call] : [])),
      );
      for (const isBefore of [true, false]) {
        expect(
          sent.some(({ call, body }) => before.has(call) === isBefore && body.includes(mark)),
        ).toBe(true);
      }
      const without = sent.filter(({ call }) => isLeftOut(before.has(call)));
      expect(breaks("I5-shown", without, ({ body }) => body.replaceAll(mark, ""))).toBe(wrong);
    },
  );

  it.each([
    {
      name: "its first request contains another agent's answer of this attempt",
      mark: "zq1x1x2x1x1zq",
      wrong: true,
    },
    {
      name: "its first request contains another agent's answer of the turn before",
      mark: "zq0x1x2x1x1zq",
      wrong: false,
    },
    { name: "its first request contains its own text", mark: "zq1x1x1x1x1zq", wrong: false },
  ])("I22: an agent has not answered, and $name: wrong $wrong", ({ mark, wrong }) => {
    const first = run.platform.providers.received
      .filter(({ call }) => call.startsWith("call_1_1_1_"))
      .slice(0, 1);
    expect(first).toHaveLength(1);
    expect(marks(mark)).toEqual([mark]);
    expect(breaks("I22", first, ({ body }) => `${body} ${mark}`)).toBe(wrong);
  });
});

describe("confirmations to a user", () => {
  const cancels = (turn: number, status: string) => [
    { at: run.endedAt, head: run.log.length, turn, status },
  ];

  it.each([
    {
      name: "a turn that is not in the log",
      corruption: () => ({ ...run, acknowledged: [...run.acknowledged, 2] }),
      wrong: true,
    },
    { name: "the turn that is", corruption: () => run, wrong: false },
    {
      name: "the cancel of a turn that never ended",
      corruption: () => ({ ...run, cancels: cancels(2, "cancelled") }),
      wrong: true,
    },
    {
      name: "the cancel of one that completed",
      corruption: () => ({ ...run, cancels: cancels(1, "cancelled") }),
      wrong: true,
    },
    {
      name: "a cancel too late for one that completed",
      corruption: () => ({ ...run, cancels: cancels(1, "completed") }),
      wrong: false,
    },
    {
      name: "a cancel that leaves its turn running",
      corruption: () => ({ ...run, cancels: cancels(1, "running") }),
      wrong: true,
    },
  ])("I2: $name: wrong $wrong", ({ corruption, wrong }) => {
    expect(run.acknowledged).toEqual([1]);
    expect(problemsOf("I2", corruption()).length > 0).toBe(wrong);
  });
});

it("a turn that ends with an internal error is an unhandled error", () => {
  const end = run.log.at(-1);
  if (end?.type !== "turn.completed") throw new Error("the run did not complete");
  const { usage, cost_usd, ...place } = end;
  const failed: NumberedEvent = {
    ...place,
    type: "turn.failed",
    code: "internal",
    message: "",
    agents: [],
    usage,
    cost_usd,
  };
  expect(problemsOf("unhandled", { ...run, log: [...run.log.slice(0, -1), failed] })).not.toEqual([]);
});
