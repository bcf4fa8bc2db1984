import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { missingSealingKeys } from "../../local/sealing-keys";
import { parseSealingKeys } from "../../src/tenancy/sealing";

it.each([
  { name: "an empty file", text: "" },
  { name: "the example", text: readFileSync(".dev.vars.example", "utf8") },
  { name: "a file without a final line end", text: 'OPENAI_API_KEY="sk-abc"' },
  { name: "a file with a blank value", text: 'SEALING_KEYS=" "\n' },
])("$name gets new sealing keys, and its contents stay unchanged", ({ text }) => {
  const completed = text + missingSealingKeys(text);
  const { SEALING_KEYS, ...others } = parseEnv(completed);
  expect(parseSealingKeys(SEALING_KEYS).ok).toBe(true);
  expect(Object.entries(parseEnv(text)).filter(([name]) => name !== "SEALING_KEYS")).toEqual(
    Object.entries(others),
  );
  expect(missingSealingKeys(completed)).toBeNull();
  expect(text + missingSealingKeys(text)).not.toBe(completed);
});

it("the sealing keys of a file that has some are not replaced", () => {
  expect(missingSealingKeys('SEALING_KEYS="2:abc,1:def"\n')).toBeNull();
});
