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

async function watched(
  options: Partial<ServiceOptions>,
  {
    leavesAfter,
    ...more
  }: { idleMs?: number; giveUpAfterMs?: number; signal?: AbortSignal; leavesAfter?: number } = {},
) {
  await using service = await Service.start({ events, ...options });
  const [display, leaving] = [recorder(), new AbortController()];
  const update: TurnDisplay["update"] = (message, view) => {
    display.update(message, view);
    if (display.raws.length === leavesAfter) leaving.abort();
  };
  const signal = more.signal ?? leaving.signal;
  const shown = { ...display, update };
  const outcome = await watchTurn({
    server: service.url,
    sessionId: b.SESSION,
    turn: 1,
    display: shown,
    ...more,
    signal,
  });
  return { outcome, display, resumes: service.resumes };
}

describe("watchTurn", () => {
  it("reads the whole log in one connection and returns how the turn ended", async () => {
    const { outcome, display, resumes } = await watched({});
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
      name: "refused for now",
      connections: [{ send: 2, ends: "cut" }, { status: 503 }, { status: 429 }, { status: 500 }],
      resumes: [null, "2", "2", "2", "2"],
    },
    {
      name: "answered by a web page of a proxy",
      connections: [{ send: 3, ends: "cut" }, { page: "<h1>Log in to this hotel</h1>" }],
      resumes: [null, "3", "3"],
    },
    {
      name: "silent, without heartbeats",
      connections: [{ send: 4, ends: "silence" }],
      resumes: [null, "4"],
    },
  ])(
    "resumes with its last id after a connection was $name, without gap or repeat",
    async ({ connections, resumes }) => {
      const got = await watched({ connections }, { idleMs: 1_000 });
      expect(got.display.raws).toEqual(events.map((event) => JSON.stringify(event)));
      expect(got.resumes).toEqual(resumes);
    },
  );

  it("reads the same log over any disconnects", async () => {
    const hows = fc.constantFrom<"cut" | "torn" | "end">("cut", "torn", "end");
    const cut = fc.tuple(fc.nat(6), hows).map(([send, how]): Connection => ({ send, ends: how }));
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 5 }), async (connections) => {
        const { display } = await watched({ connections, retryMs: 1 });
        expect(display.raws).toEqual(events.map((event) => JSON.stringify(event)));
      }),
      { numRuns: 60 },
    );
  });

  it("drops events that a server sends again", async () => {
    const twice = events.flatMap((event, index) => [
      event,
      events[Math.max(0, index - 2)] ?? event,
    ]);
    const { display, outcome } = await watched({ events: twice });
    expect(display.raws).toEqual(events.map((event) => JSON.stringify(event)));
    expect(outcome.turn?.attempts[0]?.answers).toHaveLength(3);
  });

  it("accepts heartbeats as a sign of life, and characters that are split", async () => {
    const story = b.log([
      ...b.story.slice(0, 12),
      b.answered("anna", "agent1.1", 1, "漢字 😀"),
      ...b.story.slice(13),
    ]);
    const got = await watched(
      { events: story, connections: [{ send: 3, ends: "slow" }] },
      { idleMs: 1_200 },
    );
    expect(got.resumes).toEqual([null]);
    expect(got.outcome.turn?.attempts[0]?.answers[0]?.content).toBe("漢字 😀");
  });

  it("does not increase its wait while every connection has an event", async () => {
    const begin = performance.now();
    const connections = Array.from({ length: 9 }, (): Connection => ({ send: 1, ends: "cut" }));
    await watched({ connections, retryMs: 20 });
    // doubling would take 10 s, less a quarter
    expect(performance.now() - begin).toBeLessThan(7_000);
  });

  it("increases its wait while connections have no event", async () => {
    const begin = performance.now();
    const connections = [
      { send: 1, ends: "cut" as const },
      ...Array.from({ length: 5 }, (): Connection => ({ status: 503 })),
    ];
    await watched({ connections, retryMs: 20 });
    expect(performance.now() - begin).toBeGreaterThan(900); // 20 + 40 + … + 640 ms, less a quarter
  });

  it("ends with an error if the service has no more events, but the turn has no end", async () => {
    const connections: Connection[] = [{ send: 5, ends: "end" }, { status: 204 }];
    await expect(watched({ connections })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("no end of turn 1"),
    });
  });

  it("reports once that the connection was lost and once that it is back", async () => {
    const { display } = await watched({
      connections: [{ send: 2, ends: "cut" }, { status: 503 }, { status: 503 }],
    });
    expect(display.notices).toEqual([
      expect.stringContaining("lost"),
      expect.stringContaining("again"),
    ]);
  });

  it("passes on unknown events and continues", async () => {
    const [first, ...rest] = events;
    const future = { ...first, type: "from.the.future" } as unknown as (typeof events)[number];
    const { display, outcome } = await watched({ events: [future, ...rest] });
    expect([display.raws[0], outcome.turn?.status]).toEqual([JSON.stringify(future), "completed"]);
  });

  it("waits as long as the server asks before it reconnects", async () => {
    const begin = performance.now();
    await watched({ connections: [{ send: 2, ends: "cut" }], retryMs: 400 });
    expect(performance.now() - begin).toBeGreaterThan(290); // three quarters of it at least
  });

  it("ends when it is aborted, with the events so far", async () => {
    const { outcome } = await watched(
      { connections: [{ send: 13, ends: "hold" }] },
      { leavesAfter: 13 },
    );
    expect(outcome).toMatchObject({
      end: "detached",
      turn: { status: "running", attempts: [{ answers: [{ label: "agent1.1" }] }] },
    });
  });

  it("ends at once if it is aborted while it waits to reconnect", async () => {
    const begin = performance.now();
    const { outcome } = await watched(
      { connections: [{ send: 2, ends: "cut" }], retryMs: 60_000 },
      { signal: AbortSignal.timeout(300) },
    );
    expect([outcome.end, performance.now() - begin < 5_000]).toEqual(["detached", true]);
  });

  it("gives up on a service that stays unreachable, and prints how to attach again", async () => {
    const connections = Array.from({ length: 50 }, () => ({ status: 503 }));
    await expect(watched({ connections }, { giveUpAfterMs: 50 })).rejects.toMatchObject({
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
    const { outcome } = await watched({ connections, retryMs: 20 }, { giveUpAfterMs: 250 });
    expect(outcome.end).toBe("over");
  });

  it.each<{ name: string; connection: Connection; exitCode: number; says: string }>([
    {
      name: "a web page",
      connection: { page: "<h1>hi</h1>" },
      exitCode: 2,
      says: "Unexpected response (200)",
    },
    { name: "a redirect", connection: { status: 307 }, exitCode: 2, says: "(307 error)" },
  ])("stops at once when the first answer is $name", async ({ connection, exitCode, says }) => {
    await expect(watched({ connections: [connection] })).rejects.toMatchObject({
      exitCode,
      message: expect.stringContaining(says),
    });
  });

  it("stops at a refusal and reports it", async () => {
    const refusal = problem(404, {
      title: "No such session",
      code: "session_not_found",
      request_id: "req_7",
    }).body;
    await expect(
      watched({ connections: [{ status: 404, problem: refusal }] }),
    ).rejects.toMatchObject({
      exitCode: 1,
      message:
        "No such session (404 session_not_found)\nCheck the id and the server. Request id: req_7",
    });
  });
});
