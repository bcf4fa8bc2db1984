import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TurnDisplay } from "../../../cli/display/turn-lines";
import { watchTurn } from "../../../cli/asking/watch";
import * as b from "../../protocol/builders";
import { type Connection, problem, Service, type ServiceOptions } from "../service";

const events = b.log(b.story);

/** Records the JSON of every event in order, and the notices. */
function recorder(): TurnDisplay & { raws: string[]; notices: string[] } {
  const raws: string[] = [];
  const notices: string[] = [];
  return {
    raws,
    notices,
    update: ({ raw }) => raws.push(raw),
    notice: (text) => notices.push(text),
    close: () => {},
  };
}

async function watch(
  options: Partial<ServiceOptions>,
  {
    abortAfterEvents,
    ...otherOptions
  }: {
    idleMs?: number;
    giveUpAfterMs?: number;
    signal?: AbortSignal;
    abortAfterEvents?: number;
  } = {},
) {
  await using service = await Service.start({ events, ...options });
  const [display, controller] = [recorder(), new AbortController()];
  const update: TurnDisplay["update"] = (message, view) => {
    display.update(message, view);
    if (display.raws.length === abortAfterEvents) controller.abort();
  };
  const signal = otherOptions.signal ?? controller.signal;
  const shown = { ...display, update };
  const outcome = await watchTurn({
    server: service.url,
    sessionId: b.SESSION,
    turn: 1,
    display: shown,
    ...otherOptions,
    signal,
  });
  return { outcome, display, resumes: service.resumes };
}

describe("watchTurn", () => {
  it("reads the whole log in one connection and returns how the turn ended", async () => {
    const { outcome, display, resumes } = await watch({});
    expect(display.raws).toEqual(events.map((event) => JSON.stringify(event)));
    expect(outcome).toMatchObject({
      end: "over",
      turn: { status: "completed", winner: "anna", final: { text: "Use quicksort." } },
    });
    expect(resumes).toEqual([null]);
  });

  it.each<{ name: string; connections: Connection[]; resumes: (string | null)[] }>([
    { name: "cut between events", connections: [{ send: 5, ends: "cut" }], resumes: [null, "5"] },
    {
      name: "cut in the middle of an event",
      connections: [{ send: 7, ends: "torn" }],
      resumes: [null, "7"],
    },
    {
      name: "closed normally before the turn ended",
      connections: [
        { send: 3, ends: "end" },
        { send: 3, ends: "end" },
      ],
      resumes: [null, "3", "6"],
    },
    {
      name: "cut before the first event",
      connections: [{ send: 0, ends: "cut" }],
      resumes: [null, null],
    },
    {
      name: "refused several times",
      connections: [{ send: 2, ends: "cut" }, { status: 503 }, { status: 429 }, { status: 500 }],
      resumes: [null, "2", "2", "2", "2"],
    },
    {
      name: "answered with a web page of a proxy",
      connections: [{ send: 3, ends: "cut" }, { page: "<h1>Log in to this hotel</h1>" }],
      resumes: [null, "3", "3"],
    },
    {
      name: "silent, without heartbeats",
      connections: [{ send: 4, ends: "silence" }],
      resumes: [null, "4"],
    },
  ])(
    "resumes after the last event if a connection was $name; no event is lost or repeated",
    async ({ connections, resumes }) => {
      const result = await watch({ connections }, { idleMs: 1_000 });
      expect(result.display.raws).toEqual(events.map((event) => JSON.stringify(event)));
      expect(result.resumes).toEqual(resumes);
    },
  );

  it("reads the same log after any sequence of lost connections", async () => {
    const ends = fc.constantFrom<"cut" | "torn" | "end">("cut", "torn", "end");
    const cut = fc.tuple(fc.nat(6), ends).map(([send, ends]): Connection => ({ send, ends }));
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 5 }), async (connections) => {
        const { display } = await watch({ connections, retryMs: 1 });
        expect(display.raws).toEqual(events.map((event) => JSON.stringify(event)));
      }),
      { numRuns: 60 },
    );
  });

  it("ignores events that the server sends again", async () => {
    const twice = events.flatMap((event, index) => [
      event,
      events[Math.max(0, index - 2)] ?? event,
    ]);
    const { display, outcome } = await watch({ events: twice });
    expect(display.raws).toEqual(events.map((event) => JSON.stringify(event)));
    expect(outcome.turn?.attempts[0]?.answers).toHaveLength(3);
  });

  it("does not reconnect while heartbeats arrive, and joins characters that are split", async () => {
    const story = b.log([
      ...b.story.slice(0, 12),
      b.answered("anna", "agent1.1", 1, "漢字 😀"),
      ...b.story.slice(13),
    ]);
    const result = await watch(
      { events: story, connections: [{ send: 3, ends: "slow" }] },
      { idleMs: 1_200 },
    );
    expect(result.resumes).toEqual([null]);
    expect(result.outcome.turn?.attempts[0]?.answers[0]?.content).toBe("漢字 😀");
  });

  it("does not increase the wait if every connection has an event", async () => {
    const startedAt = performance.now();
    const connections = Array.from({ length: 9 }, (): Connection => ({ send: 1, ends: "cut" }));
    await watch({ connections, retryMs: 20 });
    // doubling would take 10 s, less a quarter
    expect(performance.now() - startedAt).toBeLessThan(7_000);
  });

  it("increases the wait if connections have no event", async () => {
    const startedAt = performance.now();
    const connections = [
      { send: 1, ends: "cut" as const },
      ...Array.from({ length: 5 }, (): Connection => ({ status: 503 })),
    ];
    await watch({ connections, retryMs: 20 });
    // The waits are 20 + 40 + … + 640 ms, each at most a quarter shorter.
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  it("throws if the service has no more events, but sent no end of the turn", async () => {
    const connections: Connection[] = [{ send: 5, ends: "end" }, { status: 204 }];
    await expect(watch({ connections })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("no end of turn 1"),
    });
  });

  it("reports once that the connection was lost and once that it is back", async () => {
    const { display } = await watch({
      connections: [{ send: 2, ends: "cut" }, { status: 503 }, { status: 503 }],
    });
    expect(display.notices).toEqual([
      expect.stringContaining("lost"),
      expect.stringContaining("again"),
    ]);
  });

  it("forwards unknown events and continues", async () => {
    const [first, ...rest] = events;
    const future = { ...first, type: "from.the.future" } as unknown as (typeof events)[number];
    const { display, outcome } = await watch({ events: [future, ...rest] });
    expect([display.raws[0], outcome.turn?.status]).toEqual([JSON.stringify(future), "completed"]);
  });

  it("waits for the server's reconnect delay before it reconnects", async () => {
    const startedAt = performance.now();
    await watch({ connections: [{ send: 2, ends: "cut" }], retryMs: 400 });
    expect(performance.now() - startedAt).toBeGreaterThan(290); // three quarters of it at least
  });

  it("ends if it is aborted, and returns the events up to then", async () => {
    const { outcome } = await watch(
      { connections: [{ send: 13, ends: "hold" }] },
      { abortAfterEvents: 13 },
    );
    expect(outcome).toMatchObject({
      end: "detached",
      turn: { status: "running", attempts: [{ answers: [{ label: "agent1.1" }] }] },
    });
  });

  it("ends at once if it is aborted while it waits to reconnect", async () => {
    const startedAt = performance.now();
    const { outcome } = await watch(
      { connections: [{ send: 2, ends: "cut" }], retryMs: 60_000 },
      { signal: AbortSignal.timeout(300) },
    );
    expect([outcome.end, performance.now() - startedAt < 5_000]).toEqual(["detached", true]);
  });

  it("gives up on a service that stays unreachable, and prints how to attach again", async () => {
    const connections = Array.from({ length: 50 }, () => ({ status: 503 }));
    await expect(watch({ connections }, { giveUpAfterMs: 50 })).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(
        `npm run ask -- attach ${b.SESSION} --server http://127.0.0.1:`,
      ),
    });
  });

  it.each<{ name: string; connections: Connection[] }>([
    { name: "a long time of heartbeats only", connections: [{ send: 4, ends: "quiet" }] },
    {
      name: "accepted connections without events",
      connections: Array(5).fill({ send: 0, ends: "cut" }),
    },
  ])("does not give up after $name", async ({ connections }) => {
    const { outcome } = await watch({ connections, retryMs: 20 }, { giveUpAfterMs: 250 });
    expect(outcome.end).toBe("over");
  });

  it.each<{ name: string; connection: Connection; exitCode: number; expected: string }>([
    {
      name: "a web page",
      connection: { page: "<h1>hi</h1>" },
      exitCode: 2,
      expected: "Unexpected response (200)",
    },
    { name: "a redirect", connection: { status: 307 }, exitCode: 2, expected: "(307 error)" },
  ])("stops at once when the first answer is $name", async ({ connection, exitCode, expected }) => {
    await expect(watch({ connections: [connection] })).rejects.toMatchObject({
      exitCode,
      message: expect.stringContaining(expected),
    });
  });

  it("stops at a refusal and reports it", async () => {
    const refusal = problem(404, {
      title: "No such session",
      code: "session_not_found",
      request_id: "req_7",
    }).body;
    await expect(watch({ connections: [{ status: 404, problem: refusal }] })).rejects.toMatchObject(
      {
        exitCode: 1,
        message:
          "No such session (404 session_not_found)\nCheck the id and the server. Request id: req_7",
      },
    );
  });
});
