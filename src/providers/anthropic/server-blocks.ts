import type { HostedToolName } from "../../protocol/hosted-tools";
import { type Fields, hostedToolOf, isServerResult, isServerUse, textOf } from "./schema";

/**
 * Keeps uses of hosted tools and their results together, as the API demands. A use next to calls of our own tools has no result
 * yet: the API runs it once those calls have theirs, if nothing else is in the same message. So what else is to be said goes into
 * the last of the results; where there is none to take it, or the tool is not offered any more, the use is given up.
 */

export type Turn = { role: "user" | "assistant"; blocks: Fields[] };

/** The turns as the API takes them; some may be left without blocks. Expects user and assistant to take turns, results first. */
export function settleServerBlocks(
  turns: readonly Turn[],
  offered: ReadonlySet<HostedToolName | undefined>,
): Turn[] {
  const resolved = new Set(
    turns.flatMap(({ blocks }) => blocks.filter(isServerResult).map(resultId)),
  );
  const waiting = new Set<string>();
  return turns.map((turn, place) => {
    if (turn.role === "user")
      return waiting.size > 0 ? { ...turn, blocks: foldTexts(turn.blocks) } : turn;
    const answered = turns[place + 1];
    const mayWait = !answered || answered.blocks.some((block) => block["type"] === "tool_result");
    const goesOn = place + 2 < turns.length;
    const kept = turn.blocks.filter((block) => {
      if (isServerUse(block))
        return (
          resolved.has(useId(block)) || (mayWait && !goesOn && offered.has(hostedToolOf(block)))
        );
      return (
        !isServerResult(block) || waiting.has(resultId(block)) || hasUse(turn, resultId(block))
      );
    });
    for (const block of kept) if (isServerUse(block)) waiting.add(useId(block));
    for (const block of kept) if (isServerResult(block)) waiting.delete(resultId(block));
    return { ...turn, blocks: kept };
  });
}

const useId = (block: Fields): string => textOf(block["id"]);
const resultId = (block: Fields): string => textOf(block["tool_use_id"]);
const hasUse = (turn: Turn, id: string): boolean =>
  turn.blocks.some((block) => isServerUse(block) && useId(block) === id);

/** All texts in the last result, after its own. */
function foldTexts(blocks: readonly Fields[]): Fields[] {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const texts = blocks.filter((block) => block["type"] === "text");
  const last = results.at(-1);
  if (!last || texts.length === 0) return [...blocks];
  const own = textOf(last["content"]);
  const content = [...(own === "" ? [] : [{ type: "text", text: own }]), ...texts];
  return [...results.slice(0, -1), { ...last, content }];
}
