import { expect, it } from "vitest";
import { type Env, readSecret } from "../../../src/env";
import { keysIn } from "../../../local/provider-keys";

const NAME = "ALLOWED_ORIGINS";
const envWith = (value: string): Pick<Env, typeof NAME> => ({ [NAME]: value });

it.each([
  { name: "a bare key", value: "sk-abc", gives: "sk-abc" },
  { name: "a key with the line end of a pipe", value: "sk-abc\n", gives: "sk-abc" },
  { name: "a key with spaces around it", value: " sk-abc ", gives: "sk-abc" },
  { name: "nothing", value: "", gives: undefined },
  { name: "spaces alone", value: "  \t", gives: undefined },
])("reads $name", ({ value, gives }) => expect(readSecret(envWith(value), NAME)).toBe(gives));

it("treats a key of spaces alone as missing", () => {
  expect(keysIn('OPENAI_API_KEY="  "\nXAI_API_KEY=" xai-abc "')).toEqual(["XAI_API_KEY"]);
});
