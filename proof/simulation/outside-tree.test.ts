import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { breaches } from "./engine/invariants";
import { play } from "./engine/judge";
import type { PromptBeginning, ReceivedRequest } from "./engine/received-request";
import type { RunRecord } from "./engine/run-record";
import type { EngineSituation } from "./engine/engine-situation";
import { problemsOf } from "./correct-run";
import { treeQuestion } from "./engine/tree-user";

const situationOf = (seed: number): EngineSituation => ({
  ...{ seed, agents: 2, habits: ["branches", "tools"], faults: [], strikes: null },
});

/** Whether the session has all that the checks compare. */
function isRich({ log, tree, platform }: RunRecord): boolean {
  const parents = [...(tree?.parents.values() ?? [])];
  const isLinear = parents.every((parent, nth) => (parent ?? 0) === nth);
  const isCancelShown = platform.providers.received.some(({ body }) =>
    body.includes("The user stopped"),
  );
  return !isLinear && isCancelShown && log.some(({ type }) => type === "head.moved");
}

/** The first session with branches, moves of the head, and a cancelled turn in a history. */
async function richRun(): Promise<RunRecord> {
  for (let seed = 1; seed <= 40; seed += 1) {
    const run = await play(situationOf(seed));
    if (isRich(run)) return run;
  }
  throw new Error("no session has all that the checks compare");
}

describe("the checks of the head and of histories", () => {
  let run: RunRecord;
  beforeAll(async () => {
    run = await richRun();
  }, 60_000);

  it("accept a correct run, in which moves during turns were refused", () => {
    expect(breaches(run)).toEqual([]);
    expect(run.tree?.refused).toBeGreaterThan(0);
  });

  const withLog = (change: (event: NumberedEvent) => NumberedEvent[]): RunRecord => ({
    ...run,
    log: run.log.flatMap(change),
  });

  it.each([
    {
      name: "a turn that continues the turn before it instead of the head",
      corrupt: () =>
        withLog((event) =>
          event.type === "turn.started" && event.parent_turn !== null
            ? [{ ...event, parent_turn: event.turn - 1 }]
            : [event],
        ),
      found: "the parents of turns are",
    },
    {
      name: "a move that is not in the log",
      corrupt: () => withLog((event) => (event.type === "head.moved" ? [] : [event])),
      found: "the moves in the log are []",
    },
    {
      name: "a move that is in the log twice",
      corrupt: () => withLog((event) => (event.type === "head.moved" ? [event, event] : [event])),
      found: "the moves in the log are",
    },
    {
      name: "another head in the tree of the API",
      corrupt: () => {
        const { tree } = run;
        if (!tree?.shown) throw new Error("the run has no tree");
        const shown = { ...tree.shown, head: 1 };
        return { ...run, tree: Object.assign(Object.create(tree), { shown }) };
      },
      found: "the API returns",
    },
  ])("notice $name", ({ corrupt, found }) => {
    expect(problemsOf("head", corrupt()).join("\n")).toContain(found);
  });

  const withRequests = (change: (request: ReceivedRequest) => ReceivedRequest): RunRecord => {
    const { providers } = run.platform;
    const received = providers.received.map(change);
    const platform = Object.create(run.platform, {
      providers: { value: Object.create(providers, { received: { value: received } }) },
    });
    return { ...run, platform };
  };
  const replaced = (find: RegExp, text: string): RunRecord =>
    withRequests((request) => ({ ...request, body: request.body.replaceAll(find, text) }));

  it.each([
    {
      name: "a question of a turn that was left out",
      corrupt: () => replaced(/hq1hq/g, "hq1hq hq77hq"),
      found: "it contains the questions of the turns [1",
    },
    {
      name: "a prompt without the first question",
      corrupt: () => replaced(/hq1hq/g, ""),
      found: "it contains the questions of the turns",
    },
    {
      name: "a prompt without the answers of earlier turns",
      corrupt: () => replaced(/zq\d[\dx]+zq/g, ""),
      found: "it lacks the answer of turn",
    },
    {
      name: "an answer of a turn that is not continued",
      corrupt: () =>
        replaced(/hq1hq/g, "hq1hq final zq1x1x1x1zq final zq2x1x1x1zq final zq3x1x1zq"),
      found: "which its turn does not continue",
    },
    {
      name: "a cancelled turn that is not marked",
      corrupt: () => replaced(/The user stopped the work on this message/g, "Then"),
      found: "turns marked as cancelled: 0, expected",
    },
    {
      name: "executed tools that are not listed",
      corrupt: () =>
        replaced(/hq1hq/g, "hq1hq Tools already executed for the unfinished reply: write_file"),
      found: "turns with executed tools:",
    },
  ])("notice $name", ({ corrupt, found }) => {
    expect(problemsOf("history", corrupt()).join("\n")).toContain(found);
  });
});

describe("the check of the beginnings of prompts", () => {
  /** Changes the requests of all turns after the first. */
  async function changedRun(change: (request: ReceivedRequest) => ReceivedRequest) {
    const run = await richRun();
    const { providers } = run.platform;
    const received = providers.received.map((request) =>
      request.call.startsWith("call_1_") ? request : change(request),
    );
    const platform = Object.create(run.platform, {
      providers: { value: Object.create(providers, { received: { value: received } }) },
    });
    return { ...run, platform };
  }

  const withBeginning = (
    request: ReceivedRequest,
    change: (beginning: PromptBeginning) => Partial<PromptBeginning>,
  ): ReceivedRequest => ({
    ...request,
    beginning: request.beginning && { ...request.beginning, ...change(request.beginning) },
  });

  it.each<{
    name: string;
    change: (request: ReceivedRequest) => ReceivedRequest;
    found: string;
  }>([
    {
      name: "a history that differs in each turn",
      change: (request) => ({
        ...request,
        body: request.body.replaceAll(
          "END EARLIER MESSAGE 1>>>",
          `END EARLIER MESSAGE 1>>> ${request.call}`,
        ),
      }),
      found: "its history does not begin with that of turn",
    },
    {
      name: "tools in another order",
      change: (request) =>
        withBeginning(request, ({ tools }) => ({
          tools: JSON.stringify(JSON.parse(tools).toReversed()),
        })),
      found: "its tools are not those of turn 1",
    },
    {
      name: "a system text with something of the turn",
      change: (request) =>
        withBeginning(request, ({ system }) => ({ system: `${system} ${request.call}` })),
      found: "its system text is not that of turn 1",
    },
    {
      name: "another nonce in each turn",
      change: (request) =>
        withBeginning(request, ({ announcement }) => ({
          announcement: announcement.replace("<<<", `<<<${request.call}`),
        })),
      found: "the text before its history is not that of turn 1",
    },
  ])("notices $name", async ({ change, found }) => {
    const run = await changedRun(change);
    expect(problemsOf("prefix", run).join("\n")).toContain(found);
  });
});

it("asks a different question in each turn, so that the checks find each of them", () => {
  expect(treeQuestion(2)).not.toBe(treeQuestion(1));
});
