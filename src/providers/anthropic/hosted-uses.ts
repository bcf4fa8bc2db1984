import type { HostedUse } from "../../protocol/hosted-tools";
import type { ReplyItem } from "../provider";
import { jsonStrings } from "./json-strings";
import {
  type Fields,
  fieldsOf,
  hostedToolOf,
  isServerResult,
  isServerUse,
  listOf,
  textOf,
} from "./schema";

/** Inputs and results of hosted tools, read from the blocks that are sent back unchanged. */

/** The block of a hosted item. Empty if another format made the item. */
export const blockOf = (item: ReplyItem & { type: "hosted" }): Fields =>
  fieldsOf(fieldsOf(item.opaque)["block"]);

/**
 * The uses whose result is among `items`. The input of a use may be in `earlierItems`, because the
 * provider runs a use next to calls of our own tools only after these calls have their results.
 */
export function hostedUses(
  items: readonly ReplyItem[],
  earlierItems: readonly ReplyItem[],
): HostedUse[] {
  const inputs = new Map([...earlierItems, ...items].flatMap(inputOfUse));
  return items.flatMap((item) => {
    if (item.type !== "hosted") return [];
    const block = blockOf(item);
    if (!isServerResult(block)) return [];
    const input = inputs.get(textOf(block["tool_use_id"])) ?? "";
    return [{ name: item.name, input, ...resultOf(block["content"]) }];
  });
}

/** Whether code was run: there is a result of code execution that is not an error. */
export function hasRunCode(items: readonly ReplyItem[]): boolean {
  return items.some((item) => {
    if (item.type !== "hosted" || item.name !== "code_execution") return false;
    const block = blockOf(item);
    return isServerResult(block) && textOf(fieldsOf(block["content"])["error_code"]) === "";
  });
}

function inputOfUse(item: ReplyItem): [string, string][] {
  if (item.type !== "hosted") return [];
  const block = blockOf(item);
  return isServerUse(block) && hostedToolOf(block)
    ? [[textOf(block["id"]), jsonStrings(block["input"])]]
    : [];
}

function resultOf(content: unknown): Pick<HostedUse, "outcome" | "output"> {
  if (Array.isArray(content))
    return { outcome: "ok", output: listOf(content).map(pageLine).join("\n") };
  const result = fieldsOf(content);
  const error = textOf(result["error_code"]);
  if (error !== "") return { outcome: "error", output: error };
  const isFailed = typeof result["return_code"] === "number" && result["return_code"] !== 0;
  const texts = [
    result["stdout"],
    result["stderr"],
    result["content"],
    listOf(result["lines"]).map(textOf).join("\n"),
  ];
  return {
    outcome: isFailed ? "error" : "ok",
    output: texts.map(textOf).filter(Boolean).join("\n"),
  };
}

function pageLine(page: unknown): string {
  const { url, title } = fieldsOf(page);
  return [textOf(title), textOf(url)].filter(Boolean).join(" – ");
}
