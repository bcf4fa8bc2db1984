import type { Json } from "../../../simulated/providers/dialect";
import type { ModelInput } from "../../../simulated/providers/model-input";
import type { PromptBeginning } from "./received-request";

/**
 * Fields that are not compared: marks for caches, without which a part is cached; and how often a
 * hosted tool may be used, because the rest of the budget limits it.
 */
const VARYING: ReadonlySet<string> = new Set([
  "cache_control",
  "prompt_cache_breakpoint",
  "max_uses",
]);

/** The beginning of a prompt, with the definitions of its tools. */
export function beginningOf({ system, messages, tools }: ModelInput, body: Json): PromptBeginning {
  const withoutVarying = (name: string, value: unknown) => (VARYING.has(name) ? undefined : value);
  const [announcement = ""] = (messages[0]?.text ?? "").split("\n\n", 1);
  return {
    tools: JSON.stringify(body["tools"] ?? [], withoutVarying),
    system,
    announcement,
    names: tools
      .map(({ name }) => name)
      .sort()
      .join(),
  };
}
