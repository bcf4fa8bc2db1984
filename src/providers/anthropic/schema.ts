import type { HostedToolName } from "../../protocol/hosted-tools";
import { isJsonObject } from "../json";

/**
 * Reads the fields of Messages events and the names of hosted tools in them. Proxies omit almost
 * any field or set it to null. So nothing here throws: a field of an unexpected type counts as
 * missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Names of hosted tools on the wire. Depending on the version, code execution is one tool or two.
 */
const HOSTED_NAMES: ReadonlyMap<string, HostedToolName> = new Map([
  ["web_search", "web_search"],
  ["code_execution", "code_execution"],
  ["bash_code_execution", "code_execution"],
  ["text_editor_code_execution", "code_execution"],
]);

const RESULT = /_tool_result$/;

/** Uses of hosted tools. */
export const isServerUse = (block: Fields): boolean => block["type"] === "server_tool_use";

/** Results of hosted tools. A `tool_result` is a result of our own tool. */
export const isServerResult = (block: Fields): boolean => RESULT.test(textOf(block["type"]));

/**
 * The hosted tool of a block with a use or result. `undefined` for other blocks and for unknown
 * tools.
 */
export function hostedToolOf(block: Fields): HostedToolName | undefined {
  if (isServerUse(block)) return HOSTED_NAMES.get(textOf(block["name"]));
  return isServerResult(block)
    ? HOSTED_NAMES.get(textOf(block["type"]).replace(RESULT, ""))
    : undefined;
}
