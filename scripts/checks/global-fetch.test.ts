import { describe, expect, it } from "vitest";
import { globalFetchProblems } from "./global-fetch";
import { parseSource } from "./source";

const linesOf = (path: string, text: string): number[] =>
  globalFetchProblems([parseSource(path, text)]).map(({ line }) => line);

describe("the runtime's `fetch` is refused", () => {
  it.each([
    {
      name: "if it is called",
      text: `export const ask = () => fetch("https://example.com");`,
      lines: [1],
    },
    {
      name: "if it is passed as an argument",
      text: "const send = guarded({ fetch: fetch });",
      lines: [1],
    },
    {
      name: "if it is passed as a shorthand property",
      text: "const send = guarded({ fetch });",
      lines: [1],
    },
    {
      name: "if it is the default of a parameter",
      text: "function ask(send = fetch) {}",
      lines: [1],
    },
    { name: "if it is read from `globalThis`", text: "const send = globalThis.fetch;", lines: [1] },
    {
      name: "if it is read from `self` by a string",
      text: `self["fetch"]("https://example.com");`,
      lines: [1],
    },
    {
      name: "if it is destructured from `globalThis` under another name",
      text: "const { fetch: send } = globalThis;",
      lines: [1],
    },
    {
      name: "if it is destructured from `globalThis`",
      text: "const { fetch } = globalThis;\nfetch(1);",
      lines: [1],
    },
    {
      name: "if it is imported from a package",
      text: `import { fetch } from "undici";`,
      lines: [1],
    },
    {
      name: "if it is used after a function whose parameter has this name",
      text: "const one = (fetch: Fetch) => fetch(1);\nconst other = () => fetch(2);",
      lines: [2],
    },
    { name: "if it is an element of an array", text: "[\n  1,\n  fetch,\n];", lines: [3] },
  ])("$name", ({ text, lines }) => {
    expect(linesOf("src/api/a.ts", text)).toEqual(lines);
  });
});

describe("the check allows", () => {
  it.each([
    { name: "the method `fetch` of an object", text: "const answer = stub.fetch(url);" },
    {
      name: "a parameter with this name",
      text: "const client = ({ fetch, key }: Options) => new Client({ fetch, key });",
    },
    {
      name: "a destructured parameter that is renamed",
      text: "const checked = ({ fetch: send }: Options) => send(1);",
    },
    {
      name: "a property of a parameter",
      text: "function client(options: Options) {\n  const { fetch } = options;\n  return fetch;\n}",
    },
    {
      name: "a method definition with this name",
      text: "export default { fetch(request) {} };\nclass A { fetch() {} }",
    },
    {
      name: "a private field with this name",
      text: "class A { #fetch: typeof fetch; ask() { return this.#fetch(1); } }",
    },
    {
      name: "the type of `fetch`",
      text: "type Options = { fetch: typeof fetch };\nconst a = (send: typeof globalThis.fetch) => send;",
    },
    {
      name: "a method of a type",
      text: "interface A { fetch(url: string): B }\nconst b: Partial<typeof fetch> = c<typeof fetch>();",
    },
  ])("$name", ({ text }) => {
    expect(linesOf("src/api/a.ts", text)).toEqual([]);
  });

  it.each(["durable-objects/shared/own-fetch.ts", "scripts/a.ts", "cli/a.ts", "tests/a.test.ts"])(
    "every use in %s",
    (path) => {
      expect(linesOf(path, "fetch(1); globalThis.fetch(2);")).toEqual([]);
    },
  );
});

it.each(["src/worker.ts", "durable-objects/session.ts", "r2-layout/bucket.ts"])(
  "the check applies to %s",
  (path) => {
    expect(linesOf(path, "fetch(1);")).toEqual([1]);
  },
);
