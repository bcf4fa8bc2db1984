import { describe, expect, it } from "vitest";
import { endLines } from "../../../cli/display/automation";
import { summaryLines } from "../../../cli/display/summary";
import { turnLines } from "../../../cli/display/turn-lines";
import { turnLinesOf } from "../../../cli/display/turn-page";
import { TurnFactsSchema } from "../../../cli/service/schema";
import { paint } from "../../../cli/terminal/output";
import { costWords } from "../../../src/describe/figures";
import { toStatus, toTurn } from "../../../src/protocol/view/status";
import { turnOf } from "../../../src/protocol/view";
import { agentRules, teamRules } from "../../builders/team-rules";
import * as b from "../builders";

/** A team in which Anna has a known price. Ben has `benPrice`; `null` means an unknown price. */
const team = (benPrice: ReturnType<typeof agentRules>["price"] = null): b.Body => ({
  type: "session.created",
  rules: teamRules([agentRules("anna"), agentRules("ben", { price: benPrice })]),
});
const begun = [
  b.turnStarted("anna", "ben"),
  b.attemptStarted(),
  b.callStarted("anna", "a1"),
  b.callStarted("ben", "b1"),
];
const ofBen = (cost: { cost_usd: number | null; cost_usd_known?: number }): b.Body => ({
  ...b.callCompleted("ben", "b1"),
  ...cost,
});
const ended = (cost: { cost_usd: number | null; cost_usd_known?: number }): b.Body => ({
  ...b.completed("anna", "So."),
  ...cost,
});

const now = { now: b.START };
const lines = (all: Parameters<typeof paint>[0][]) =>
  all.map((line) => paint(line, { width: 200, color: false })).join("\n");

function shown(bodies: b.Body[]) {
  const view = b.view(b.log(bodies));
  const turn = turnOf(view);
  const status = toStatus(view, now);
  if (!turn || !status) throw new Error("no turn");
  const page = TurnFactsSchema.parse(toTurn(view, 1));
  const screens = [
    lines(turnLines(turn, { width: 200, height: 9, now: b.START })),
    lines(summaryLines(turn, "url")),
    endLines(turn, { url: "url" }).join("\n"),
    lines(turnLinesOf(page)),
  ];
  return { turn, status, page: toTurn(view, 1), screens };
}

describe("an unknown price (A4)", () => {
  const unknown = { cost_usd: null, cost_usd_known: 0 };
  const partlyKnown = { cost_usd: null, cost_usd_known: 0.5 };
  const rows = [
    {
      name: "in a log that records unknown costs",
      log: [team(), ...begun, b.callCompleted("anna", "a1"), ofBen(unknown), ended(partlyKnown)],
    },
    {
      name: "in a log without session.created",
      log: [...begun, b.callCompleted("anna", "a1"), ofBen(unknown), ended(partlyKnown)],
    },
    {
      name: "in an older log that recorded a cost of 0",
      log: [
        team(),
        ...begun,
        b.callCompleted("anna", "a1"),
        ofBen({ cost_usd: 0 }),
        ended({ cost_usd: 0.5 }),
      ],
    },
  ];

  it.each(rows)("makes cost_usd null in JSON, beside the known part, $name", ({ log }) => {
    const { status, page } = shown(log);
    for (const response of [status, page, status.turns[0]])
      expect(response).toMatchObject({ cost_usd: null, cost_usd_known: 0.5 });
    expect(status.agents).toMatchObject({
      anna: { cost_usd: 0.5 },
      ben: { cost_usd: null, cost_usd_known: 0 },
    });
  });

  it.each(rows)("is shown as unknown on every display, $name", ({ log }) => {
    for (const screen of shown(log).screens) {
      expect(screen).toContain("unknown, at least $0.5000");
      expect(screen).not.toContain("$0.0000");
    }
  });

  it("is shown without an amount if no part has a known price", () => {
    expect(costWords({ costUsd: 0, isCostWhole: false })).toBe("unknown");
  });

  it("does not make the cost unknown while no token is charged", () => {
    const failed: b.Body = { ...b.callFailed("ben", "b1"), tokens: 0, cost_usd: 0 } as b.Body;
    const { status } = shown([team(), ...begun, b.callCompleted("anna", "a1"), failed]);
    expect([status.cost_usd, status.agents["ben"]?.cost_usd]).toEqual([0.5, 0]);
  });

  it("makes the unreported cost unknown if a call without a usage report has no price", () => {
    const cut = (agent: string, call: string, cost_usd: number | null) =>
      ({
        ...b.callFailed(agent, call),
        class: "interrupted",
        code: "interrupted",
        tokens: 5_000,
        cost_usd,
      }) as b.Body;
    const page = (...calls: b.Body[]) =>
      shown([team(), ...begun, ...calls]).page?.unreported_cost_usd;
    expect(page(cut("anna", "a1", 0.01))).toBe(0.01);
    expect(page(cut("anna", "a1", 0.01), cut("ben", "b1", null))).toBeNull();
    expect(page(cut("anna", "a1", 0.01), ofBen(unknown))).toBe(0.01);
  });

  it("is visible at the end of an agent's line at every width", () => {
    const answer = {
      ...b.answered("ben", "agent2.1", 1),
      left_out: { count: 12, paths: [] },
    } as unknown as b.Body;
    const interrupted = {
      ...b.callFailed("ben", "b1"),
      ...({ class: "interrupted", code: "interrupted", tokens: 50_000, cost_usd: null } as object),
    } as b.Body;
    const { turn } = shown([team(), ...begun, b.callCompleted("anna", "a1"), answer, interrupted]);
    for (const width of [80, 100, 200]) {
      const drawn = turnLines(turn, { width, height: 9, now: b.START }).map((line) =>
        paint(line, { width, color: false }),
      );
      expect([width, drawn[2]]).toEqual([width, expect.stringMatching(/^ben .* unknown( |$)/)]);
    }
  });

  it("is not the same as a price of 0", () => {
    const free = { input: 0, cached_input: 0, output: 0 };
    const { status, screens } = shown([
      team(free),
      ...begun,
      ofBen({ cost_usd: 0 }),
      ended({ cost_usd: 0 }),
    ]);
    expect([status.cost_usd, status.agents["ben"]?.cost_usd]).toEqual([0, 0]);
    for (const screen of screens) expect(screen).toContain("$0.0000");
  });

  it("of a hosted tool makes the cost unknown only if the tool was used", () => {
    const search = {
      name: "web_search" as const,
      max_uses: 3,
      usd_per_use: null,
      tokens_per_use: 10,
    };
    const rules = teamRules([agentRules("anna", { hosted_tools: [search] })]);
    const callWithSearch: b.Body = {
      ...b.callCompleted("anna", "a1"),
      usage: { ...b.usage(100, 20), hosted_uses: { web_search: 1 } },
    } as b.Body;
    const log = (call: b.Body) => [
      { type: "session.created" as const, rules },
      ...begun.slice(0, 3),
      call,
    ];
    expect(shown(log(callWithSearch)).status).toMatchObject({
      cost_usd: null,
      cost_usd_known: 0.5,
    });
    expect(shown(log(b.callCompleted("anna", "a1"))).status.cost_usd).toBe(0.5);
  });
});

describe("reported and reserved tokens (A5)", () => {
  const cut = (agent: string, call: string): b.Body => ({
    ...b.callFailed(agent, call),
    ...({ class: "interrupted", code: "interrupted", tokens: 5_000, cost_usd: 0.01 } as object),
  });
  const unreported: b.Body = {
    ...b.callCompleted("ben", "b2"),
    ...({ unreported: true, usage: b.usage(0, 5_000), cost_usd: 0.01 } as object),
  };
  const restarted = [
    ...[b.created("anna", "ben"), ...begun, cut("anna", "a1"), cut("ben", "b1")],
    ...[
      b.callStarted("anna", "a2"),
      b.callStarted("ben", "b2"),
      b.callCompleted("anna", "a2"),
      unreported,
    ],
  ];
  const done = { ...b.completed("anna", "So.", b.usage(100, 20)), cost_usd: 0.53 } as b.Body;
  const nothingReported = {
    ...b.completed("anna", "So.", b.usage(0, 0)),
    cost_usd: 0.04,
  } as b.Body;

  it.each([
    { name: "while the turn runs", log: restarted },
    { name: "when it has ended", log: [...restarted, done] },
    {
      name: "when it has ended with calls in flight",
      log: [...restarted.slice(0, -2), nothingReported],
    },
  ])("of all agents have the turn's totals as their sums, after a restart, $name", ({ log }) => {
    const { status, page } = shown(log);
    const agents = Object.values(status.agents);
    for (const field of ["tokens", "reported_tokens", "reserved_tokens"] as const) {
      const sum = agents.reduce((all, agent) => all + agent[field], 0);
      expect([field, status[field], page?.[field]]).toEqual([field, sum, sum]);
    }
  });

  it("are two separate figures on the screen, for the team and for each agent", () => {
    const { screens } = shown(restarted);
    expect(screens[0]).toContain("120 tokens + 15.0k reserved");
    expect(screens[0]).toContain("120 tok + 5,000 reserved");
    expect(screens[0]).toContain("0 tok + 10.0k reserved");
    expect(screens[1]).toContain(
      "120 (in 100, out 20), and 15.0k reserved by calls that reported nothing",
    );
  });
});
