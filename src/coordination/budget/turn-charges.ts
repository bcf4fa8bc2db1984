import {
  type EventOf,
  type SessionEvent,
  SessionEventSchema,
  type Usage,
} from "../../protocol/events";
import { addCosts, type Cost, costOfFields, FREE } from "../../protocol/cost";
import { addUsage, NO_USAGE } from "../../protocol/usage";

/**
 * The charges of a turn, including the reservations of its calls in flight. `settles` are the
 * events that end these calls.
 */
type TurnCharges = { usage: Usage; cost: Cost; settles: EventOf<"call.failed">[] };

/** A logged event of a model call. Another version of the service may have written it. */
export type CallEvent = { type: string; call: string };

const CALL_ENDS: ReadonlySet<string> = new Set(["call.completed", "call.failed"]);

/**
 * The charges of a turn whose log cannot be folded. They are the charges of its settled calls plus
 * the reservations of its calls in flight, whose outcome is unknown. Events that this version
 * cannot parse are not charged. `at` (unix ms) is the time at which the calls in flight fail.
 */
export function chargesOf(events: Iterable<CallEvent>, at: number): TurnCharges {
  const open = new Map<string, EventOf<"call.started">>();
  let [usage, cost] = [NO_USAGE, FREE];
  for (const logged of events) {
    if (CALL_ENDS.has(logged.type)) open.delete(logged.call);
    const event = SessionEventSchema.safeParse(logged).data;
    if (event?.type === "call.started") open.set(event.call, event);
    if (!isCharged(event)) continue;
    cost = addCosts(cost, costOfFields(event));
    if (event.usage && !("unreported" in event)) usage = addUsage(usage, event.usage);
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
