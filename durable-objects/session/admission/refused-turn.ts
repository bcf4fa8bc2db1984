import { acceptAttachments } from "../../../src/agents/attached";
import { mayStart, parentOfNext, runningTurn } from "../../../src/coordination";
import type { AttachmentStore } from "./attachments";
import type { SessionParts } from "../compose";
import { startOfTurn } from "../log/session-log";
import { refusalText } from "../queue/refusal-texts";
import type { StartRefusal, StartTurn } from "../session-api";

/**
 * Starts the turn of a queued request that is refused, and fails it with the code of the refusal.
 * It reserves nothing and makes no call. Its attachments are stored, so that the question can be
 * asked again. Does nothing if the request may no longer start.
 */
export async function failQueuedTurn(
  session: SessionParts,
  turn: StartTurn & { queueId: string },
  refusal: StartRefusal,
  attachments: Pick<AttachmentStore, "put">,
): Promise<void> {
  const { coordinator, facts, log, queries, queueStore, workspaces } = session;
  const wanted = turn.attachments ?? [];
  const accepted = acceptAttachments(facts.team, wanted, () => queries.attachments());
  if (accepted.ok) await attachments.put(wanted);
  const { state } = coordinator;
  if (runningTurn(state) || !mayStart(queueStore.queue(), turn.queueId)) return;
  const named = turn.parentTurn !== null && turn.parentTurn <= state.turns ? turn.parentTurn : null;
  const parent = parentOfNext(state, named);
  const { question, budget, timeoutMs, queueId } = turn;
  const start = parent === null ? null : startOfTurn(log, parent);
  // No `await` until the turn is stored, so the platform stores all writes or none.
  workspaces.contextStates.begin(state.turns + 1, {
    states: [],
    carried: parent === null ? new Map() : workspaces.contextStates.usedUntil(parent),
  });
  coordinator.handle({
    ...{ type: "turn_requested", rules: null, question, budget, timeoutMs, queueId },
    attached: accepted.ok ? accepted.attached : null,
    parentTurn: parent,
    // Its own grants were not given, so that the turns after it do not inherit them.
    grants: [...(start?.grants ?? [])],
    refused: { code: refusal.code, message: refusalText(refusal) },
  });
}
