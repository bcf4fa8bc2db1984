import type { Message, ReplyItem } from "./provider";

/** Ids of tool calls, which results refer to and effects are named after: unique within a round, printable and not long. */

const FITTING_ID = /^[!-~]{1,128}$/;

/** The ids a round's conversation has used so far. */
export function takenCallIds(messages: readonly Message[]): Set<string> {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return new Set(items.flatMap((item) => (item.type === "tool_call" ? [item.id] : [])));
}

/** The same items; calls whose id is taken, missing or does not fit get another. */
export function uniqueCallIds(items: readonly ReplyItem[], taken: ReadonlySet<string>): ReplyItem[] {
  const used = new Set(taken);
  return items.map((item) => {
    if (item.type !== "tool_call") return item;
    const fits = FITTING_ID.test(item.id) && !used.has(item.id);
    const id = fits ? item.id : freeId(used);
    used.add(id);
    return fits ? item : { ...item, id };
  });
}

/** Nine letters and digits: the strictest server takes no other ids. */
function freeId(used: ReadonlySet<string>): string {
  for (let n = used.size; ; n += 1) {
    const id = `call${String(n).padStart(5, "0")}`;
    if (!used.has(id)) return id;
  }
}
