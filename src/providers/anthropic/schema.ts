import type { HostedToolName } from "../../protocol/hosted-tools";
import { isJsonObject } from "../json";

/**
 * The few fields read from Messages events, and the names of hosted tools in them. Proxies leave out or null almost anything, so
 * nothing here throws: what has another shape counts as absent.
 */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Names under which hosted tools are used; running code comes as one tool or as two. */
const HOSTED_NAMES: ReadonlyMap<string, HostedToolName> = new Map([
  ["web_search", "web_search"],
  ["code_execution", "code_execution"],
  ["bash_code_execution", "code_execution"],
  ["text_editor_code_execution", "code_execution"],
]);

const RESULT = /_tool_result$/;

export const isServerUse = (block: Fields): boolean => block["type"] === "server_tool_use";

/** Results of hosted tools; a `tool_result` is one of ours. */
export const isServerResult = (block: Fields): boolean => RESULT.test(textOf(block["type"]));

/** Which hosted tool a use or a result belongs to; undefined: none of ours, or neither a use nor a result. */
export function hostedToolOf(block: Fields): HostedToolName | undefined {
  if (isServerUse(block)) return HOSTED_NAMES.get(textOf(block["name"]));
  return isServerResult(block)
    ? HOSTED_NAMES.get(textOf(block["type"]).replace(RESULT, ""))
    : undefined;
}
