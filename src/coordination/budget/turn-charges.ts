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

/**
 * The charges of a turn that cannot be folded: the charges of its settled calls, plus the
 * reservations of its calls in flight, because their outcome is unknown. `events`: the turn's
 * logged events as parsed JSON; events of another version and events without a call are skipped.
 * `at`: the time when the calls in flight fail, unix ms.
 */
export function chargesOf(events: Iterable<unknown>, at: number): TurnCharges {
  const open = new Map<string, EventOf<"call.started">>();
  let [usage, cost] = [NO_USAGE, FREE];
  for (const json of events) {
    const ended = endedCall(json);
    if (ended !== null) open.delete(ended);
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

/** The call that an event ends, also an event of another version; `null` if it ends none. */
function endedCall(json: unknown): string | null {
  if (typeof json !== "object" || json === null || !("type" in json && "call" in json)) return null;
  const isEnd = json.type === "call.completed" || json.type === "call.failed";
  return isEnd && typeof json.call === "string" ? json.call : null;
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
