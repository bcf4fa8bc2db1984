import { z } from "zod";
import {
  type EventOf,
  type SessionEvent,
  SessionEventSchema,
  type Usage,
} from "../../../src/protocol/events";
import { addCosts, type Cost, costOfFields, FREE } from "../../../src/protocol/cost";
import { addUsage, NO_USAGE } from "../../../src/protocol/usage";
import { parseJson } from "../../../src/providers/json";
import { type LogRow, toJson } from "../streams/frames";

/**
 * The charges of a turn. `settles`: the events that end its calls in flight, whose reservations are
 * included.
 */
type Bill = { usage: Usage; cost: Cost; settles: EventOf<"call.failed">[] };

const SettledCallSchema = z.looseObject({
  type: z.enum(["call.completed", "call.failed"]),
  call: z.string(),
});

/**
 * The charges of a turn that cannot be folded, from its rows only: what its calls were charged,
 * plus what calls in flight had reserved, because their outcome is unknown. Rows that are not about
 * calls or cannot be parsed are skipped. `at`: when the calls in flight are given up, unix ms.
 */
export function billOf(rows: Iterable<LogRow>, at: number): Bill {
  const open = new Map<string, EventOf<"call.started">>();
  let [usage, cost] = [NO_USAGE, FREE];
  for (const row of rows) {
    const json = parseJson(toJson(row, ""));
    const settled = SettledCallSchema.safeParse(json).data;
    if (settled) open.delete(settled.call);
    const event = SessionEventSchema.safeParse(json).data;
    if (event?.type === "call.started") open.set(event.call, event);
    if (!isCharged(event)) continue;
    cost = addCosts(cost, costOfFields(event));
    const isReported = event.type === "call.failed" || !event.unreported;
    if (event.usage && isReported) usage = addUsage(usage, event.usage);
  }
  const settles = [...open.values()].map((started) => interruptedCall(started, at));
  return {
    usage,
    cost: settles.reduce((sum, call) => addCosts(sum, costOfFields(call)), cost),
    settles,
  };
}

const isCharged = (
  event: SessionEvent | undefined,
): event is EventOf<"call.completed" | "call.failed"> =>
  event?.type === "call.completed" || event?.type === "call.failed";

function interruptedCall(
  { turn, attempt, agent, round, call, reserved }: EventOf<"call.started">,
  at: number,
): EventOf<"call.failed"> {
  return {
    type: "call.failed",
    at,
    turn,
    attempt,
    agent,
    round,
    call,
    class: "interrupted",
    code: "interrupted",
    message: "The service restarted while the model was working.",
    retry_at: null,
    usage: null,
    ...reserved,
  };
}
