import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { play } from "./engine/judge";
import { asStored, witnessFiles } from "./engine/file-witness";
import { OUTSIDE } from "./engine/invariants";
import { MARK } from "./engine/model";
import type { Reached } from "./engine/providers";
import type { RunRecord } from "./engine/run";
import type { Fault } from "./engine/faults";
import type { EngineSituation } from "./engine/situation";

/** A run of two agents with files, of which nothing is wrong. */
const SITUATION: EngineSituation = {
  seed: 5,
  agents: 2,
  habits: ["tools", "background"],
  faults: [],
  strikes: null,
};

let run: RunRecord;
beforeAll(async () => {
  run = await play(SITUATION);
});

const look = (invariant: string, doctored: RunRecord): string[] =>
  OUTSIDE.flatMap(([id, check]) => (id === invariant ? check(doctored) : []));

const found = (doctored: RunRecord): string[] =>
  OUTSIDE.filter(([, check]) => check(doctored).length > 0).map(([id]) => id);

it("nothing is wrong with the run that the lies are told of, and it has files in R2", () => {
  expect(found(run)).toEqual([]);
  expect(Object.values(run.stored.trees).some((tree) => Object.keys(tree).length > 0)).toBe(true);
});

describe("what lies in R2", () => {
  const anyFile = (trees: RunRecord["frozen"]): [string, string] => {
    for (const [name, tree] of Object.entries(trees))
      for (const path of Object.keys(tree)) return [name, path];
    throw new Error("the run has no files");
  };
  const changed = (change: (tree: Record<string, string>, path: string) => void): RunRecord => {
    const trees = structuredClone(run.stored.trees);
    const [name, path] = anyFile(trees);
    change(trees[name] ?? {}, path);
    return { ...run, stored: { ...run.stored, trees } };
  };
  const without = (): RunRecord => {
    const [name] = anyFile(run.stored.trees);
    const { [name]: _, ...trees } = run.stored.trees;
    return { ...run, stored: { ...run.stored, trees } };
  };

  it.each([
    { name: "a snapshot is missing", lie: without },
    { name: "a file is missing", lie: () => changed((tree, path) => delete tree[path]) },
    { name: "a file has other contents", lie: () => changed((tree, path) => (tree[path] = "0 1")) },
    {
      name: "a file is one too many",
      lie: () => changed((tree) => (tree["/workspace/other"] = "0 1")),
    },
    {
      name: "its contents are not there",
      lie: () => ({ ...run, stored: { ...run.stored, problems: ["it is not there"] } }),
    },
  ])("is not what was frozen if $name", ({ lie }) => {
    expect(found(lie())).toEqual(["I10-stored"]);
  });

  it("is not what an agent made if the service has frozen something else, and brought that to R2", () => {
    const { stored } = changed((tree, path) => (tree[path] = "0 1"));
    expect(found({ ...run, stored, frozen: stored.trees })).toEqual(["I10-stored"]);
  });

  it("is what agents wrote, deleted and copied from others, and what the presenter went on with", async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { log, platform, stored } = await play({
        ...SITUATION,
        seed,
        habits: ["tools", "second_turn"],
      });
      const { trees, workspaces, problems } = witnessFiles(log, platform.providers.reached);
      expect(problems).toEqual([]);
      expect(stored.trees).toEqual(asStored(trees));
      const calls = platform.providers.reached.flatMap((one) => one.calls.map(({ name }) => name));
      for (const event of log) {
        if (event.type === "tool.completed" && event.outcome === "ok" && calls.includes(event.name))
          met.add(event.name);
        if (event.type === "answer.submitted" && event.snapshot !== event.label)
          met.add("an unchanged workspace");
        if (event.type === "answer.submitted" && event.left_out) met.add("something left out");
      }
      for (const [name, tree] of trees)
        if (name.endsWith(".final") && tree.size > 0) met.add("a final with files");
      if ([...workspaces.values()].some(({ files }) => files > 1)) met.add("several files");
    }
    const due = [
      "write_file",
      "delete_file",
      "copy_file",
      "an unchanged workspace",
      "a final with files",
      "several files",
    ];
    expect([...met]).toEqual(expect.arrayContaining(due));
  });
});

describe("what reached providers", () => {
  it("holds the replies that were taken up after a crash", async () => {
    const asked = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { platform } = await play({ ...SITUATION, seed, faults: ["crash_in_stream"] });
      for (const { asksFor } of platform.providers.reached) asked.add(asksFor);
    }
    expect([...asked]).toEqual(expect.arrayContaining(["reply", "rest"]));
  });

  const LOOK_UP = {
    ...{ key: "1", turn: 1, attempt: 1, agent: "writer-canary-0x", round: 1, tool_call: "toolu_1" },
    ...{ name: "look_up", answered: true },
  };
  type Asks = Reached["asksFor"] | "tool";
  type Also = { asks: readonly Asks[]; sentAt: number; isEndless?: boolean };

  /** Whether the run breaks this with more requests than it had, all of them open for a second or for ever. */
  function breaks(
    invariant: string,
    { asks, sentAt, isEndless = false }: Also,
    told = run,
  ): boolean {
    const { providers, tools } = run.platform;
    const [reply] = providers.reached;
    if (!reply) throw new Error("the run asked no provider");
    const times = { sentAt, headersAt: sentAt + 900, endedAt: isEndless ? null : sentAt + 1_000 };
    const [replies, calls] = [providers.reached.length, tools.reached.length];
    for (const one of asks) {
      if (one === "tool") tools.reached.push({ ...LOOK_UP, ...times });
      else providers.reached.push({ ...reply, asksFor: one, ...times });
    }
    const problems = look(invariant, told);
    providers.reached.splice(replies);
    tools.reached.splice(calls);
    return problems.length > 0;
  }

  const five = <T extends Asks>(asks: T): T[] => Array.from({ length: 5 }, () => asks);

  it.each([
    {
      name: "five replies that are taken up wait for headers at once",
      asks: five("rest"),
      wrong: true,
    },
    { name: "four do", asks: five("rest").slice(1), wrong: false },
    { name: "five are told to stop", asks: five("stop"), wrong: false },
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
    { name: "a reply is asked for", asks: "reply", wrong: true },
    { name: "a reply is taken up", asks: "rest", wrong: true },
    { name: "a reply is told to stop", asks: "stop", wrong: false },
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
    { name: "a reply under way stays open", asks: "reply", wrong: true },
    { name: "a reply that was taken up stays open", asks: "rest", wrong: true },
    {
      name: "what tells a reply to stop, in the very instant of the cancel, stays open",
      asks: "stop",
      wrong: false,
    },
    { name: "a tool's request under way stays open", asks: "tool", wrong: true },
  ] as const)("I15: after a cancel $name", ({ asks, wrong }) => {
    const at = run.endedAt + 10_000;
    const cancelled = {
      ...run,
      cancels: [{ at, head: run.log.length, turn: 1, status: "cancelled" }],
    };
    expect(breaks("I15", { asks: [asks], sentAt: at, isEndless: true }, cancelled)).toBe(wrong);
  });
});

it("what reached tools' servers has headers with its first word, and ends with its answer, the process, or nobody waiting", async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const faults: Fault[] = seed % 2 === 0 ? ["crash_in_tool", "tool_slow", "tool_lost"] : [];
    const { platform } = await play({ ...SITUATION, seed, habits: ["tools", "cancel"], faults });
    for (const { sentAt, headersAt, endedAt, answered } of platform.tools.reached) {
      if (endedAt === null) throw new Error("a request is open although the run is over");
      expect([sentAt, headersAt ?? endedAt, endedAt]).toEqual(
        [sentAt, headersAt ?? endedAt, endedAt].toSorted((a, b) => a - b),
      );
      if (answered) met.add(headersAt === endedAt ? "an answer at once" : "an answer after news");
      else if (platform.deaths.some(({ at }) => at === endedAt)) met.add("a death");
      else met.add("no answer");
    }
  }
  const due = ["an answer at once", "an answer after news", "a death", "no answer"];
  expect([...met].toSorted()).toEqual(due.toSorted());
});

describe("what agents were sent", () => {
  const marks = (text: string): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);

  /** The winner's own vote, and the calls of the winner: it is sent every answer once more when it presents. */
  function winnersVote(): { at: number; mark: string; sent: Reached[] } {
    const { log, platform } = run;
    const winner = log.find(({ type }) => type === "presentation.started");
    if (winner?.type !== "presentation.started") throw new Error("nobody presented");
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
      sent: platform.providers.reached.filter(({ call }) => own.has(call)),
    };
  }

  /** Whether the run breaks this when these requests had another body. */
  function breaks(
    invariant: string,
    requests: readonly Reached[],
    body: (request: Reached) => string,
  ): boolean {
    const bodies = requests.map((request) => request.body);
    for (const request of requests) request.body = body(request);
    const problems = look(invariant, run);
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
      name: "its first request holds another's answer of this attempt",
      mark: "zq1x1x2x1x1zq",
      wrong: true,
    },
    {
      name: "its first request holds another's answer of the turn before",
      mark: "zq0x1x2x1x1zq",
      wrong: false,
    },
    { name: "its first request holds words of its own", mark: "zq1x1x1x1x1zq", wrong: false },
  ])("I22: an agent has not answered, and $name: wrong $wrong", ({ mark, wrong }) => {
    const first = run.platform.providers.reached
      .filter(({ call }) => call.startsWith("call_1_1_1_"))
      .slice(0, 1);
    expect(first).toHaveLength(1);
    expect(marks(mark)).toEqual([mark]);
    expect(breaks("I22", first, ({ body }) => `${body} ${mark}`)).toBe(wrong);
  });
});

describe("what was confirmed to a user", () => {
  const cancels = (turn: number, status: string) => [
    { at: run.endedAt, head: run.log.length, turn, status },
  ];

  it.each([
    {
      name: "a turn that is not in the log",
      lie: () => ({ ...run, acknowledged: [...run.acknowledged, 2] }),
      wrong: true,
    },
    { name: "the turn that is", lie: () => run, wrong: false },
    {
      name: "the cancel of a turn that never ended",
      lie: () => ({ ...run, cancels: cancels(2, "cancelled") }),
      wrong: true,
    },
    {
      name: "the cancel of one that completed",
      lie: () => ({ ...run, cancels: cancels(1, "cancelled") }),
      wrong: true,
    },
    {
      name: "a cancel too late for one that completed",
      lie: () => ({ ...run, cancels: cancels(1, "completed") }),
      wrong: false,
    },
    {
      name: "a cancel that leaves its turn running",
      lie: () => ({ ...run, cancels: cancels(1, "running") }),
      wrong: true,
    },
  ])("I2: $name: wrong $wrong", ({ lie, wrong }) => {
    expect(run.acknowledged).toEqual([1]);
    expect(look("I2", lie()).length > 0).toBe(wrong);
  });
});

describe("a run that stands still when nothing is wrong any more", () => {
  const at = (ms: number): number => run.endedAt + ms;
  /** It grows after so long again, from an event on with which a retry is due, or is not. */
  function standing(ms: number, retryMs: number | null, isBegun = false): RunRecord {
    const started = run.log.find(({ type }) => type === "call.started");
    if (started?.type !== "call.started") throw new Error("the run has no call");
    const head = run.log.length + 1;
    const failed: NumberedEvent = {
      type: "call.failed",
      ...{
        at: at(0),
        sequence_number: head,
        turn: 1,
        attempt: 1,
        agent: started.agent,
        round: 1,
        call: started.call,
      },
      ...{
        class: "transient",
        code: "overloaded",
        message: "",
        usage: null,
        tokens: 0,
        cost_usd: 0,
      },
      retry_at: retryMs === null ? null : at(retryMs),
    };
    const begun = { ...started, at: at(0), sequence_number: head + 1 };
    const log = [...run.log, failed, ...(isBegun ? [begun] : [])];
    const grew = [
      ...run.grew,
      { at: at(0), head: log.length },
      { at: at(ms), head: log.length + 1 },
    ];
    return { ...run, log, grew };
  }

  it.each([
    { name: "for a minute is right", ms: 60_000, retryMs: null, wrong: false },
    { name: "for longer is wrong", ms: 60_001, retryMs: null, wrong: true },
    {
      name: "for longer is right while a retry is pending",
      ms: 100_000,
      retryMs: 40_000,
      wrong: false,
    },
    {
      name: "for longer than a minute after that retry is wrong",
      ms: 100_001,
      retryMs: 40_000,
      wrong: true,
    },
    {
      name: "for longer is wrong once that retry has begun",
      ms: 100_000,
      retryMs: 40_000,
      isBegun: true,
      wrong: true,
    },
  ])("$name", ({ ms, retryMs, isBegun, wrong }) => {
    expect(look("I13", standing(ms, retryMs, isBegun)).length > 0).toBe(wrong);
  });
});

describe("a request that was under way when the last fault struck", () => {
  /** Nothing is logged from the strike until the request ends; times are those since the strike, in s. */
  type Standing = { fault?: Fault; headers: number | null; piece: number | null; ends: number };
  function standsStill(request: Standing): boolean {
    const at = (seconds: number | null) =>
      seconds === null ? null : run.endedAt + seconds * 1_000;
    const { reached } = run.platform.providers;
    const [one] = reached;
    if (!one) throw new Error("the run asked no provider");
    const { headers, piece, ends, fault = "no_headers" } = request;
    const grown = at(ends) ?? 0;
    const head = run.log.length;
    reached.push({
      ...one,
      sentAt: run.endedAt,
      headersAt: at(headers),
      pieceAt: at(piece),
      endedAt: grown,
    });
    run.faults.struck.push({ nth: 1, fault, at: run.endedAt, until: run.endedAt, head });
    const problems = look("I13", { ...run, grew: [...run.grew, { at: grown, head: head + 1 }] });
    run.faults.struck.pop();
    reached.pop();
    return problems.length > 0;
  }

  it.each<Standing & { name: string; wrong: boolean }>([
    {
      name: "without headers, for two minutes and one more",
      headers: null,
      piece: null,
      ends: 180,
      wrong: false,
    },
    { name: "without headers, for longer", headers: null, piece: null, ends: 181, wrong: true },
    {
      name: "without a piece, for 90 s and a minute",
      headers: 1,
      piece: null,
      ends: 151,
      wrong: false,
    },
    { name: "without a piece, for longer", headers: 1, piece: null, ends: 152, wrong: true },
    {
      name: "for 90 s and a minute after its last piece",
      headers: 1,
      piece: 400,
      ends: 550,
      wrong: false,
    },
    { name: "for longer after its last piece", headers: 1, piece: 400, ends: 551, wrong: true },
    {
      name: "twice as long, as its clock was set",
      fault: "clock_back",
      headers: 1,
      piece: 400,
      ends: 640,
      wrong: false,
    },
    {
      name: "for longer than that",
      fault: "clock_back",
      headers: 1,
      piece: 400,
      ends: 641,
      wrong: true,
    },
    { name: "for 14 minutes and one more", headers: 1, piece: 890, ends: 900, wrong: false },
    { name: "for longer than any call may take", headers: 1, piece: 890, ends: 901, wrong: true },
  ])("was waited for $name: wrong $wrong", ({ wrong, ...request }) => {
    expect(standsStill(request)).toBe(wrong);
  });
});

it("a turn that ends for a fault of the service's own is a fault nobody handled", () => {
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
  expect(look("unhandled", { ...run, log: [...run.log.slice(0, -1), failed] })).not.toEqual([]);
});
