import {
  type EventOf,
  type SessionEvent,
  SessionEventSchema,
  type Usage,
} from "../../protocol/events";
import { addCosts, type Cost, costOfFields, FREE } from "../../protocol/cost";
import { addUsage, NO_USAGE } from "../../protocol/usage";

/**
 * The charges of a turn. `settles`: the events that end its calls in flight, whose reservations are
 * included.
 */
type TurnCharges = { usage: Usage; cost: Cost; settles: EventOf<"call.failed">[] };

/** A logged event of a call, maybe of another version of the service, with all its fields. */
export type CallEvent = { type: string; call: string };

const CALL_ENDS: ReadonlySet<string> = new Set(["call.completed", "call.failed"]);

/**
 * The charges of a turn that cannot be folded: the charges of its settled calls, plus the
 * reservations of its calls in flight, because their outcome is unknown. Events of another version
 * are not charged. `at`: the time when the calls in flight fail, unix ms.
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
