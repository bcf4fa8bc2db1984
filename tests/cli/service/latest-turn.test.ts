import { expect, it } from "vitest";
import { latestTurn, turnToWatch } from "../../../cli/service/session-calls";
import { SESSION } from "../../protocol/builders";
import { Service } from "../service";

const question = (turn: number, status = "completed") => ({ turn, status });
const summary = (turn: number, status = "completed") => ({ turn, kind: "compact", status });

it.each([
  { name: "a question", turns: [question(1), question(2)], latest: 2, watched: 2 },
  {
    name: "a running question",
    turns: [question(1), question(2, "running")],
    latest: 2,
    watched: 2,
  },
  { name: "a summary", turns: [question(1), question(2), summary(3)], latest: 2, watched: 2 },
  { name: "a running summary", turns: [question(1), summary(2, "running")], latest: 1, watched: 2 },
  { name: "two summaries", turns: [question(1), summary(2), summary(3)], latest: 1, watched: 1 },
])("the latest turn, and the one to watch, after $name", async ({ turns, latest, watched }) => {
  const body = { turns };
  await using service = await Service.start({
    ...{ events: [], answers: { [`/api/sessions/${SESSION}`]: { status: 200, body } } },
  });
  const context = { server: service.url };
  expect([await latestTurn(SESSION, context), await turnToWatch(SESSION, context)]).toEqual([
    ...[latest, watched],
  ]);
});
