import type { Json } from "../../../simulated/providers/dialect";
import type { ModelInput } from "../../../simulated/providers/model-input";
import type { PromptBeginning } from "./received-request";

/** Fields that mark a part for a cache. The part is cached without them. */
const MARKS: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

/** The beginning of a prompt, with the whole definitions of its tools. */
export function beginningOf({ system, messages, tools }: ModelInput, body: Json): PromptBeginning {
  const withoutMarks = (name: string, value: unknown) => (MARKS.has(name) ? undefined : value);
  const [announcement = ""] = (messages[0]?.text ?? "").split("\n\n", 1);
  return {
    tools: JSON.stringify(body["tools"] ?? [], withoutMarks),
    system,
    announcement,
    names: tools
      .map(({ name }) => name)
      .sort()
      .join(),
  };
}
