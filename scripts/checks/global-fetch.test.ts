import { describe, expect, it } from "vitest";
import { globalFetchProblems } from "./global-fetch";
import { parseSource } from "./source";

const linesOf = (path: string, text: string): number[] =>
  globalFetchProblems([parseSource(path, text)]).map(({ line }) => line);

describe("the runtime's own fetch is refused", () => {
  it.each([
    {
      name: "if it is called",
      text: `export const ask = () => fetch("https://example.com");`,
      lines: [1],
    },
    { name: "if it is passed on", text: "const send = guarded({ fetch: fetch });", lines: [1] },
    {
      name: "if it is passed on by its name alone",
      text: "const send = guarded({ fetch });",
      lines: [1],
    },
    { name: "as a parameter's default", text: "function ask(send = fetch) {}", lines: [1] },
    { name: "by globalThis", text: "const send = globalThis.fetch;", lines: [1] },
    { name: "by self, as text", text: `self["fetch"]("https://example.com");`, lines: [1] },
    {
      name: "read from globalThis, under another name",
      text: "const { fetch: send } = globalThis;",
      lines: [1],
    },
    {
      name: "read from globalThis",
      text: "const { fetch } = globalThis;\nfetch(1);",
      lines: [1],
    },
    { name: "from a package", text: `import { fetch } from "undici";`, lines: [1] },
    {
      name: "behind a function with a parameter",
      text: "const one = (fetch: Fetch) => fetch(1);\nconst other = () => fetch(2);",
      lines: [2],
    },
    { name: "in an array", text: "[\n  1,\n  fetch,\n];", lines: [3] },
  ])("$name", ({ text, lines }) => {
    expect(linesOf("src/api/a.ts", text)).toEqual(lines);
  });
});

describe("allowed is", () => {
  it.each([
    { name: "a fetch that belongs to an object", text: "const answer = stub.fetch(url);" },
    {
      name: "a fetch parameter",
      text: "const client = ({ fetch, key }: Options) => new Client({ fetch, key });",
    },
    {
      name: "a fetch parameter under another name",
      text: "const checked = ({ fetch: send }: Options) => send(1);",
    },
    {
      name: "a fetch property of a parameter",
      text: "function client(options: Options) {\n  const { fetch } = options;\n  return fetch;\n}",
    },
    {
      name: "a method of that name",
      text: "export default { fetch(request) {} };\nclass A { fetch() {} }",
    },
    {
      name: "a private field of that name",
      text: "class A { #fetch: typeof fetch; ask() { return this.#fetch(1); } }",
    },
    {
      name: "its type",
      text: "type Options = { fetch: typeof fetch };\nconst a = (send: typeof globalThis.fetch) => send;",
    },
    {
      name: "a type's method",
      text: "interface A { fetch(url: string): B }\nconst b: Partial<typeof fetch> = c<typeof fetch>();",
    },
  ])("$name", ({ text }) => {
    expect(linesOf("src/api/a.ts", text)).toEqual([]);
  });

  it.each(["durable-objects/shared/outgoing.ts", "scripts/a.ts", "cli/a.ts", "tests/a.test.ts"])(
    "anything in %s",
    (path) => {
      expect(linesOf(path, "fetch(1); globalThis.fetch(2);")).toEqual([]);
    },
  );
});

it.each(["src/worker.ts", "durable-objects/session.ts", "r2-layout/bucket.ts"])(
  "%s may not use it",
  (path) => {
    expect(linesOf(path, "fetch(1);")).toEqual([1]);
  },
);
