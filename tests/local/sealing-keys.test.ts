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
])("$name gets its own sealing keys, and keeps its contents", ({ text }) => {
  const whole = text + missingSealingKeys(text);
  const { SEALING_KEYS, ...others } = parseEnv(whole);
  expect(parseSealingKeys(SEALING_KEYS).ok).toBe(true);
  expect(Object.entries(parseEnv(text)).filter(([name]) => name !== "SEALING_KEYS")).toEqual(
    Object.entries(others),
  );
  expect(missingSealingKeys(whole)).toBeNull();
  expect(text + missingSealingKeys(text)).not.toBe(whole);
});

it("a file that has sealing keys keeps them", () => {
  expect(missingSealingKeys('SEALING_KEYS="2:abc,1:def"\n')).toBeNull();
});
