import type { CallRecord } from "../../../src/agents/records";
import { latestPlanned, NOTHING_PLANNED } from "../../../src/agents/planned-calls";
import type { PlannedCall, PlannedCalls } from "../../../src/prompts/presentation";
import type { CallStore, RoundPlace } from "./call-store";
import type { SessionLog } from "../log/session-log";

/** An agent in one attempt. `agent`: its index in the team. `id`: its name in the log. */
type AgentPlace = Omit<RoundPlace, "round"> & { id: string };

/**
 * The latest tool calls that an agent planned while its team coordinated. The log contains their
 * names, and the private conversations contain their arguments.
 */
export function plannedCalls(log: SessionLog, calls: CallStore, place: AgentPlace): PlannedCalls {
  const turn = log.turn(place.turn);
  if (!turn) return NOTHING_PLANNED;
  const planned = [...log.readType(turn, "tool.completed")]
    .filter(({ agent, attempt }) => agent === place.id && attempt === place.attempt)
    .map(({ body }): { round: number; tool_call: string; name: string; outcome: string } =>
      JSON.parse(body),
    )
    .filter(({ outcome }) => outcome === "planned");
  return latestPlanned(withArguments(planned.toReversed(), calls, place), planned.length);
}

type PlannedEvent = { round: number; tool_call: string; name: string };

/** Yields the planned calls lazily, so that only the rounds that are needed are read. */
function* withArguments(
  planned: readonly PlannedEvent[],
  calls: CallStore,
  place: AgentPlace,
): Generator<PlannedCall> {
  let [readRound, records]: [number | null, readonly CallRecord[]] = [null, []];
  for (const { round, tool_call, name } of planned) {
    if (readRound !== round) [readRound, records] = [round, calls.read({ ...place, round })];
    yield { name, arguments: argumentsIn(records, tool_call) };
  }
}

/** The arguments of a tool call, as the model wrote them; `{}` if the call is not stored. */
export function argumentsOf(
  calls: Pick<CallStore, "read">,
  place: RoundPlace,
  toolCall: string,
): string {
  return argumentsIn(calls.read(place), toolCall);
}

function argumentsIn(records: readonly CallRecord[], toolCall: string): string {
  const items = records.flatMap((record) => (record.kind === "reply" ? record.items : []));
  const call = items.find((item) => item.type === "tool_call" && item.id === toolCall);
  return call?.type === "tool_call" ? call.arguments : "{}";
}
