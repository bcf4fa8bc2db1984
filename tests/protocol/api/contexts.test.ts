import { expect, it } from "vitest";
import { CONTEXT_NAME, contextNameFrom } from "../../../src/protocol/api/contexts";

it.each([
  { path: "/home/me/My Site", name: "my-site" },
  { path: "src/app/", name: "app" },
  { path: "C:\\Work\\Web", name: "web" },
  { path: "../..", name: null },
  { path: "~", name: null },
  { path: "", name: null },
  { path: "/tmp/aux", name: null },
  { path: `/x/${"long".repeat(40)}`, name: "long".repeat(40).slice(0, 63) },
])("the context name for the path $path is $name", ({ path, name }) =>
  expect(contextNameFrom(path)).toBe(name),
);

it.each(["con", "nul", "com1", "-a", "_a", "A", "a.b", "a/b", "", "a".repeat(64)])(
  "%s is not a valid context name",
  (name) => expect(CONTEXT_NAME.test(name)).toBe(false),
);
it.each(["console", "com10", "a", "0-9_x", "a".repeat(63)])("%s is a valid context name", (name) =>
  expect(CONTEXT_NAME.test(name)).toBe(true),
);
