import type { HostedToolName } from "../../protocol/hosted-tools";
import { isJsonObject } from "../json";

/**
 * The fields that we read from Messages events, and the names of hosted tools in them. Proxies omit
 * or null almost any field, so nothing here throws: a field of another shape counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Names of hosted tools on the wire. Code execution is one tool or two, by version. */
const HOSTED_NAMES: ReadonlyMap<string, HostedToolName> = new Map([
  ["web_search", "web_search"],
  ["code_execution", "code_execution"],
  ["bash_code_execution", "code_execution"],
  ["text_editor_code_execution", "code_execution"],
]);

const RESULT = /_tool_result$/;

export const isServerUse = (block: Fields): boolean => block["type"] === "server_tool_use";

/** Results of hosted tools. A `tool_result` is a result of our own tool. */
export const isServerResult = (block: Fields): boolean => RESULT.test(textOf(block["type"]));

/** The hosted tool of a use or result block. `undefined` for other blocks and unknown tools. */
export function hostedToolOf(block: Fields): HostedToolName | undefined {
  if (isServerUse(block)) return HOSTED_NAMES.get(textOf(block["name"]));
  return isServerResult(block)
    ? HOSTED_NAMES.get(textOf(block["type"]).replace(RESULT, ""))
    : undefined;
}
