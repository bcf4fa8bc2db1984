import type { Usage } from "../../protocol/events";
import { hostedFields, withHostedUses } from "../hosted";
import type { ModelEvent } from "../provider";
import { replySize } from "../reply-size";
import { chargedSearches } from "./generation";
import { createHostedUses } from "./hosted-uses";
import { createParts } from "./parts";
import { readChunk } from "./schema";
import { endsReply, toStopReason } from "./stop-reason";
import { decodeUsage } from "./usage";

export type Decoder = {
  /** Takes one parsed chunk; gives the events it makes. Throws for a reply without measure or a call in pieces only. */
  push(value: unknown): ModelEvent[];
  /** The reply's `stop`. Throws `stream_cut` if the provider never said that it was complete. */
  end(): ModelEvent;
  /** Whether the provider said how the reply ended, so that what breaks afterwards costs at most the usage. */
  isComplete(): boolean;
};

/**
 * Puts a streamed reply together. Work per chunk depends on the chunk only: pieces are kept and joined once, at the end.
 * Complete is a reply with a finish reason that nothing more is said after, or one whose prompt was blocked.
 */
export function createDecoder(model: string, takenIds: ReadonlySet<string>): Decoder {
  const grow = replySize();
  const parts = createParts(takenIds, grow);
  const hosted = createHostedUses(grow);
  let reported: Usage | null = null;
  let finishReason = "";
  let blockReason = "";

  const usage = () =>
    reported && withHostedUses(reported, { web_search: chargedSearches(model, hosted.queries()) });

  return {
    push(value) {
      const chunk = readChunk(value);
      const events: ModelEvent[] = [];
      for (const part of chunk.parts) {
        const event = parts.push(part);
        if (event) events.push(event);
        events.push(...hosted.takePart(part));
      }
      if (events.length > 0) finishReason = ""; // some proxies write one before the reply has said all
      if (chunk.grounding) events.push(...hosted.takeGrounding(chunk.grounding));
      if (endsReply(chunk.finishReason)) finishReason = chunk.finishReason;
      if (endsReply(chunk.blockReason)) blockReason = chunk.blockReason;
      reported = decodeUsage(chunk.usage) ?? reported;
      const charged = chunk.usage === undefined ? null : usage();
      if (charged) events.push({ type: "usage", usage: charged });
      return events;
    },
    end() {
      const reason = toStopReason(finishReason, blockReason, parts.hasCalls());
      return {
        type: "stop",
        reason,
        items: parts.items(),
        usage: usage(),
        ...hostedFields(hosted.uses(), hosted.citations()),
      };
    },
    isComplete: () => finishReason !== "" || blockReason !== "",
  };
}
