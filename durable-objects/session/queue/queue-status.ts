import type { QueueHold, QueueStep } from "../../../src/coordination";
import type { Queue as QueueResponse } from "../../../src/protocol/api/queue";
import { questionPreview } from "../../../src/protocol/view/status";
import type { QueueStore, QueueWait, StoredRequest } from "./queue-store";

const HOLD_MESSAGES: Record<QueueHold, string> = {
  cancelled: "A turn was cancelled. Resume the queue, or remove its requests.",
  turn_failed: "A turn failed. Resume the queue, or remove its requests.",
  key_revoked:
    "The key that sent the next request was revoked or has expired. Resume the queue with a valid key, or remove its requests.",
};

const WAIT_MESSAGES: Record<QueueWait["code"], string> = {
  quota_exceeded:
    "The maximum number of turns is running. The next request starts when one of them has ended.",
  spend_exceeded:
    "The daily budget is exhausted or reserved. The next request starts when there is budget again, at the latest after the day has ended (UTC).",
  service_error: "A part of the service did not respond. The start is tried again.",
};

/** The queue as the API and the streams show it. `step`: what the queue does next. */
export function queueStatus(store: QueueStore, step: QueueStep): Omit<QueueResponse, "session_id"> {
  const requests = store.requests();
  const { hold } = store.queue();
  return {
    held: hold && { code: hold, message: HOLD_MESSAGES[hold] },
    waiting: step.type === "wait" ? toWaiting(step, requests[0]?.wait ?? null) : null,
    data: requests.map(toEntry),
  };
}

function toWaiting(
  step: Extract<QueueStep, { type: "wait" }>,
  wait: QueueWait | null,
): QueueResponse["waiting"] {
  switch (step.for) {
    case "turn":
      return { code: "turn_running", message: "A turn is running.", retry_at: null };
    case "settlement": {
      const message = "The cost of the last turn is being charged.";
      return { code: "turn_unsettled", message, retry_at: null };
    }
    case "limit": {
      const code = wait?.code ?? "service_error";
      return { code, message: WAIT_MESSAGES[code], retry_at: step.until / 1_000 };
    }
  }
}

const toEntry = (
  { id, turn, interrupts, at }: StoredRequest,
  index: number,
): QueueResponse["data"][number] => ({
  id,
  position: index + 1,
  question_preview: questionPreview(turn.question),
  attachments: turn.attachments?.length ?? 0,
  parent_turn: turn.parentTurn ?? null,
  interrupts,
  created_at: at / 1_000,
});
