import type { Message, ReplyItem } from "./provider";

/** Ids of tool calls, which results refer to and effects are named after: unique within a round, printable and not long. */

const FITTING_ID = /^[!-~]{1,128}$/;

/** The ids a round's conversation has used so far. */
export function takenCallIds(messages: readonly Message[]): Set<string> {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return new Set(items.flatMap((item) => (item.type === "tool_call" ? [item.id] : [])));
}

/** The same items; calls whose id is taken, missing or does not fit get another. */
export function uniqueCallIds(
  items: readonly ReplyItem[],
  taken: ReadonlySet<string>,
): ReplyItem[] {
  const used = new Set(taken);
  return items.map((item) => {
    if (item.type !== "tool_call") return item;
    const fits = FITTING_ID.test(item.id) && !used.has(item.id);
    const id = fits ? item.id : freeId(used);
    used.add(id);
    return fits ? item : { ...item, id };
  });
}

/** Whether a call of a reply keeps this id, if no other call of the reply has it: the check of a call that is still being written. */
export const staysItsId = (id: string, taken: ReadonlySet<string>): boolean =>
  FITTING_ID.test(id) && !FREE_ID.test(id) && !taken.has(id);

/** An id of ours, which another call of the reply may get. */
const FREE_ID = /^call\d{5,}$/;

/** Nine letters and digits: the strictest server takes no other ids. */
function freeId(used: ReadonlySet<string>): string {
  for (let n = used.size; ; n += 1) {
    const id = `call${String(n).padStart(5, "0")}`;
    if (!used.has(id)) return id;
  }
}

/**
 * The name of a called tool as it may go back. A model can call what was never offered, by any name, and servers refuse every
 * further request of the conversation for a name that no tool could have. `longest`: characters a tool's name may have there.
 */
export const fittingName = (name: string, longest = 64): string =>
  name.replace(/[^\w-]/g, "_").slice(0, longest) || "unnamed";

/** A tool's result for formats that have no mark for a failed one, so that its text must say it. */
export const resultText = ({ text, isError }: { text: string; isError: boolean }): string =>
  isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
