import type { HostedToolName } from "../../protocol/hosted-tools";
import type { ModelEvent } from "../provider";
import { hostedInput, hostedNameOf } from "./hosted-items";
import { type Fields, textOf } from "./schema";

/** `id`: "" if there is none, or an earlier call has it. `sent`: whether anything of what it asks was shown already, so that it is not shown twice. */
type Live = (
  | { type: "call"; index: number; name: string; id: string }
  | { type: "hosted"; name: HostedToolName }
) & {
  sent: boolean;
};

export type LiveItems = {
  begin(position: number, item: Fields): ModelEvent[];
  delta(position: number, text: string): ModelEvent[];
  done(position: number, item: Fields): ModelEvent[];
};

/**
 * What a reply's calls and hosted tools ask, shown as it is written. `resumed`: the beginning of what is under way may have
 * been shown before, so an item is followed only from a beginning that was seen.
 */
export function createLiveItems(resumed: boolean): LiveItems {
  const items = new Map<number, Live>();
  const ids = new Set<string>();
  let calls = 0;

  const begin = (position: number, item: Fields): void => {
    const hosted = hostedNameOf(item);
    if (hosted) items.set(position, { type: "hosted", name: hosted, sent: false });
    if (item["type"] !== "function_call") return;
    const id = textOf(item["call_id"]);
    items.set(position, {
      type: "call",
      index: calls,
      name: textOf(item["name"]),
      id: ids.has(id) ? "" : id,
      sent: false,
    });
    ids.add(id);
    calls += 1;
  };
  const show = (live: Live, text: string): ModelEvent[] => {
    if (text === "") return [];
    live.sent = true;
    if (live.type === "call") {
      const { index, name, id } = live;
      return [{ type: "tool_arguments", index, name, ...(id !== "" && { id }), text }];
    }
    return [{ type: "hosted_tool", name: live.name, text }];
  };
  /** Queries come whole, with the item or only at its end; arguments and code come in pieces, or only at the end. */
  const showWhole = (position: number, item: Fields): ModelEvent[] => {
    const live = items.get(position);
    if (!live || live.sent) return [];
    return show(live, live.type === "call" ? textOf(item["arguments"]) : hostedInput(item));
  };

  return {
    begin(position, item) {
      begin(position, item);
      return item["type"] === "web_search_call" ? showWhole(position, item) : [];
    },
    delta(position, text) {
      const live = items.get(position);
      return live ? show(live, text) : [];
    },
    done(position, item) {
      if (!items.has(position) && !resumed) begin(position, item);
      const events = showWhole(position, item);
      items.delete(position);
      return events;
    },
  };
}
