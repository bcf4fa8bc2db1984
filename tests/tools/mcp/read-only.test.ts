import { expect, it } from "vitest";
import { isNamedBy } from "../../../src/tools/mcp/trust";

it.each([
  ["search_*", "search_web", true],
  ["search_*", "research_web", false],
  ["look", "look", true],
  ["look", "look_up", false],
  ["*", "anything", true],
])(
  "the entry `%s` of `read_only` in a config matches the tool %s: %s (D8)",
  (pattern, name, isNamed) => expect(isNamedBy(pattern, name)).toBe(isNamed),
);
