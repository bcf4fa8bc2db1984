import type { Message, ReplyItem } from "./provider";

/**
 * Ids of tool calls. An id is unique within a round, printable and short. Tool results refer to it,
 * and the effects of the calls contain it in their names.
 */

const VALID_ID = /^[!-~]{1,128}$/;

/** The ids that the round's conversation has used so far. */
export function takenCallIds(messages: readonly Message[]): Set<string> {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return new Set(items.flatMap((item) => (item.type === "tool_call" ? [item.id] : [])));
}

/** The same items, but a call gets a new id if its own is already used, missing or malformed. */
export function uniqueCallIds(
  items: readonly ReplyItem[],
  taken: ReadonlySet<string>,
): ReplyItem[] {
  const used = new Set(taken);
  return items.map((item) => {
    if (item.type !== "tool_call") return item;
    const fits = VALID_ID.test(item.id) && !used.has(item.id);
    const id = fits ? item.id : unusedId(used);
    used.add(id);
    return fits ? item : { ...item, id };
  });
}

/**
 * Whether `uniqueCallIds` will keep this id of a call that is still being streamed, if no other
 * call of the same reply has the same id.
 */
export const staysItsId = (id: string, taken: ReadonlySet<string>): boolean =>
  VALID_ID.test(id) && !OWN_ID.test(id) && !taken.has(id);

/**
 * Ids that `unusedId` makes. A provider could send an id of this form too, and it could equal one
 * of ours.
 */
const OWN_ID = /^call\d{5,}$/;

/** A new id of nine letters and digits. The strictest server accepts only this form. */
function unusedId(used: ReadonlySet<string>): string {
  for (let n = used.size; ; n += 1) {
    const id = `call${String(n).padStart(5, "0")}`;
    if (!used.has(id)) return id;
  }
}

/**
 * The name of a called tool in a form that can be sent back. A model can call a tool that was not
 * offered, with any name. If a conversation contains an invalid name, servers refuse every later
 * request. `longest` is in characters.
 */
export const fittingName = (name: string, longest = 64): string =>
  name.replace(/[^\w-]/g, "_").slice(0, longest) || "unnamed";

/**
 * The result of a tool as text, for formats that cannot mark a failed call. The text then begins
 * with "Error".
 */
export const resultText = ({ text, isError }: { text: string; isError: boolean }): string =>
  isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
