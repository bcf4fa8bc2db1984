import { expect, it } from "vitest";
import type { TurnList } from "../../../src/protocol/api/listings";
import { ask, question, startSession, turnsOf, untilTurns } from "./queue/queue-client";
import { post, request } from "./session-client";

it("a move of the head while a turn starts is refused, or the turn follows it", async () => {
  const run = await startSession("completed");
  await untilTurns(run, 1);
  await ask(run, question(2), {});
  await untilTurns(run, 2);
  const path = `/api/sessions/${run.session_id}`;
  const asked = ask(run, question(3), {});
  const { status } = await post(`${path}/head`, { turn: 1 });
  await asked;
  await untilTurns(run, 3);
  const parent = (await turnsOf(run))[2]?.parent_turn;
  const { head } = await (await request(`${path}/turns`)).json<TurnList>();
  // 409: the turn started first. 200: the move came first, and the turn follows turn 1.
  expect([
    [409, 2, 3],
    [200, 1, 3],
  ]).toContainEqual([status, parent, head]);
});
