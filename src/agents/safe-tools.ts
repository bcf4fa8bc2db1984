import { quote } from "../prompts/quote";
import type { ToolSpec } from "../providers/provider";

/**
 * The tools without the agent's nonce. Tool servers write the descriptions and schemas of their
 * tools. A server that has learnt the nonce could otherwise imitate a block there.
 */
export const withoutNonce = (nonce: string, specs: readonly ToolSpec[]): ToolSpec[] =>
  specs.map((spec) => (JSON.stringify(spec).includes(nonce) ? cleaned(nonce, spec) : spec));

const cleaned = (nonce: string, { name, description, parameters }: ToolSpec): ToolSpec => ({
  name,
  description: quote(nonce, description),
  parameters: cleanedObject(nonce, parameters),
});

const cleanedObject = (nonce: string, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [quote(nonce, key), cleanedValue(nonce, inner)]),
  );

function cleanedValue(nonce: string, value: unknown): unknown {
  if (typeof value === "string") return quote(nonce, value);
  if (Array.isArray(value)) return value.map((inner) => cleanedValue(nonce, inner));
  return typeof value === "object" && value !== null ? cleanedObject(nonce, value) : value;
}
