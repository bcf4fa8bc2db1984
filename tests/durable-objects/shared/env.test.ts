import { expect, it } from "vitest";
import { type Env, readSecret } from "../../../src/env";
import { keysIn } from "../../../local/provider-keys";

const NAME = "ALLOWED_ORIGINS";
const envWith = (value: string): Pick<Env, typeof NAME> => ({ [NAME]: value });

it.each([
  { name: "a key", value: "sk-abc", gives: "sk-abc" },
  { name: "a key with a line end after it", value: "sk-abc\n", gives: "sk-abc" },
  { name: "a key with spaces around it", value: " sk-abc ", gives: "sk-abc" },
  { name: "an empty variable as missing", value: "", gives: undefined },
  { name: "a variable that is only white space as missing", value: "  \t", gives: undefined },
])("reads $name", ({ value, gives }) => expect(readSecret(envWith(value), NAME)).toBe(gives));

it("reads only the variable with this name, which is the environment's own", () => {
  const variables = {
    [NAME]: "a",
    get OTHER(): string {
      throw new Error("This variable was not asked for.");
    },
  };
  expect(readSecret(variables, NAME)).toBe("a");
  expect(readSecret({}, "toString")).toBe(undefined);
  expect(readSecret(Object.create(envWith("inherited")), NAME)).toBe(undefined);
});

it("does not list a key in .dev.vars whose value is only white space", () => {
  expect(keysIn('OPENAI_API_KEY="  "\nXAI_API_KEY=" xai-abc "')).toEqual(["XAI_API_KEY"]);
});
