import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import type { FinishedRun } from "../runs/judge";
import { reachedTools } from "../runs/tool-records";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import {
  CANARY,
  recordedRun,
  requestContent,
  requestsIn,
  readRecording,
  SESSION,
  withLog,
} from "./recorded-run";

/**
 * A recorded run of three turns. Ada and bela answer in the first turn. The second turn brings the
 * team of cleo and dora. The third turn uses this team, but only dora takes part, with another
 * model.
 */
const EVENTS = readRecording("another-team");
const REQUESTS = requestsIn(EVENTS);

const runWith = (changed: Partial<FinishedRun> = {}): FinishedRun =>
  recordedRun({ ...withLog(EVENTS), turns: 3, requests: () => REQUESTS, ...changed });

/** The recorded requests, with one change: to the n-th request to this model. */
function requestsWith(
  model: string,
  nth: number,
  change: Partial<RecordedRequest>,
): Pick<FinishedRun, "requests"> {
  const changed = REQUESTS.filter((request) => request.model === model)[nth - 1];
  if (!changed) throw new Error(`${model} received no request ${nth}`);
  const requests = REQUESTS.map((one) => (one === changed ? { ...one, ...change } : one));
  return { requests: () => requests };
}
/** The recorded requests, with the first request to this model once more. */
const requestTwice = (model: string): Pick<FinishedRun, "requests"> => ({
  requests: () => [...REQUESTS, ...REQUESTS.filter((one) => one.model === model).slice(0, 1)],
});
const expensive = { reported: { inputTokens: 9_000, outputTokens: 9_000 } };
/** More than the first turn cost, and less than all turns cost. */
const CAP_USD = 0.01;

it("a run whose turns have different teams breaks no promise", async () => {
  expect(REQUESTS.map(({ model }) => model)).toEqual(
    EVENTS.flatMap((event) => (event.type === "call.completed" ? [event.model] : [])),
  );
  expect(await judgeRun(runWith())).toEqual([]);
  expect(await judgeRun(runWith({ killedAt: [] }))).toEqual([]);
});

describe("in a run whose turns have different teams, finds", () => {
  it.each([
    {
      name: "a vote of the second team for an answer that its model was not shown",
      changed: { ...requestsWith("model-3", 2, requestContent([], ["new_answer", "vote"])) },
      wrong: "I5: cleo voted for agent1.1, which its model was not shown",
    },
    {
      name: "a request of the second team without an agent's key",
      changed: requestsWith("model-4", 1, { headers: { authorization: `Bearer ${CANARY}` } }),
      wrong: "I5: 1 requests carried no agent's key",
    },
    {
      name: "charges of the second team that are not in the log",
      changed: requestsWith("model-3", 1, expensive),
      wrong: "I11: model-3 charged",
    },
    {
      name: "charges of the model of one turn that are not in the log",
      changed: requestsWith("larger", 1, expensive),
      wrong: "I11: larger charged",
    },
    {
      name: "a request to the model of one turn that is not in the log",
      changed: requestTwice("larger"),
      wrong: "I11: 2 requests for larger arrived, the log started 1",
    },
    {
      name: "a request to a model that its agent has only in another turn",
      changed: requestTwice("model-4"),
      wrong: "I11: 3 requests for model-4 arrived, the log started 2",
    },
    {
      name: "charges of all teams above the cap",
      changed: { capUsd: CAP_USD },
      wrong: "I11: $",
    },
  ])("$name", async ({ changed, wrong }) => {
    const problems = await judgeRun(runWith({ killedAt: [], ...changed }));
    expect(problems.join("\n")).toContain(wrong);
  });
});

it("the key of a tool call names the agent by its position in the team of the turn", () => {
  const keyOf = (place: string) => `${SESSION}_tool_${place}_call_1`;
  const calls = ["1_1_2_1", "2_1_1_1", "2_1_2_1", "3_1_1_1", "3_1_2_1", "4_1_1_1"].map((place) => ({
    name: "add",
    key: keyOf(place),
    answered: true,
  }));
  expect(reachedTools(calls, EVENTS).map(({ turn, agent }) => [turn, agent])).toEqual([
    [1, "bela"],
    [2, "cleo"],
    [2, "dora"],
    [3, "dora"],
    [3, "unknown"],
    [4, "unknown"],
  ]);
});
