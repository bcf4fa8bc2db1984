import type { Message, ReplyItem } from "./provider";

/**
 * Ids of tool calls: unique within a round, printable and short. Tool results refer to them, and
 * effects are named after them.
 */

const FITTING_ID = /^[!-~]{1,128}$/;

/** The ids that the round's conversation has used so far. */
export function takenCallIds(messages: readonly Message[]): Set<string> {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return new Set(items.flatMap((item) => (item.type === "tool_call" ? [item.id] : [])));
}

/** The same items; a call whose id is used, missing or malformed gets a new one. */
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

/**
 * Whether a call of a reply keeps this id, provided no other call of the reply has the same. For a
 * call that is still being streamed.
 */
export const staysItsId = (id: string, taken: ReadonlySet<string>): boolean =>
  FITTING_ID.test(id) && !FREE_ID.test(id) && !taken.has(id);

/** Ids that `freeId` makes. The provider's own id of this form could collide with one. */
const FREE_ID = /^call\d{5,}$/;

/** Nine letters and digits, because the strictest server accepts no other ids. */
function freeId(used: ReadonlySet<string>): string {
  for (let n = used.size; ; n += 1) {
    const id = `call${String(n).padStart(5, "0")}`;
    if (!used.has(id)) return id;
  }
}

/**
 * The name of a called tool in a form that can be sent back. A model can call a tool that was not
 * offered, by any name, and servers refuse all further requests of a conversation that contains an
 * impossible name. `longest` is in characters.
 */
export const fittingName = (name: string, longest = 64): string =>
  name.replace(/[^\w-]/g, "_").slice(0, longest) || "unnamed";

/** A tool's result for formats that cannot mark a failure; the text must state it. */
export const resultText = ({ text, isError }: { text: string; isError: boolean }): string =>
  isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
