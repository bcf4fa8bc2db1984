import { describe, expect, it } from "vitest";
import { parsePath } from "../../src/workspace/paths";
import {
  type Access,
  entriesOf,
  PROTECTION_LIMITS,
  protectedPathProblem,
  protection,
  protectionOf,
  refusalOf,
} from "../../src/workspace/permissions";
import type { FileOperation } from "../../src/workspace/types";
import { cpuMs } from "../fakes/cpu-time";

/**
 * An agent that sees two peers, may read `docs`, may write `site` except its secrets, and has read
 * the files named `known`.
 */
const ACCESS: Access = {
  peers: new Set(["agent1", "agent2"]),
  contexts: new Map([
    ["docs", { writable: false, isProtected: () => false }],
    ["site", { writable: true, isProtected: protection(["secrets/", "*.pem"]) }],
  ]),
  knows: (path) => path.endsWith("/known"),
};

const judged = (operation: FileOperation, path: string): string =>
  refusalOf(operation, parsePath(path), ACCESS)?.code ?? "allowed";

type Row = { name: string; does: FileOperation[]; to: string[]; is: string };

describe("an agent", () => {
  it.each<Row>([
    {
      name: "may read and change its own workspace",
      does: ["read", "list", "write"],
      to: ["a", "/workspace"],
      is: "allowed",
    },
    {
      name: "may delete files that it has read",
      does: ["delete"],
      to: ["known", "/contexts/site/known"],
      is: "allowed",
    },
    {
      name: "may not delete what it has not read",
      does: ["delete"],
      to: ["a", "/contexts/site/a"],
      is: "not_read",
    },
    {
      name: "may look at peers it was shown",
      does: ["read", "list"],
      to: ["/peers/agent1/a", "peers/agent2"],
      is: "allowed",
    },
    {
      name: "may not change a peer's files",
      does: ["write", "delete"],
      to: ["/peers/agent1/known", "/peers/agent1"],
      is: "read_only",
    },
    {
      name: "may not touch a peer it was not shown",
      does: ["read", "list", "write", "delete"],
      to: ["/peers/agent3/a"],
      is: "unknown_place",
    },
    {
      name: "may not guess a peer's real name",
      does: ["read", "list"],
      to: ["/peers/researcher/a", "/peers/agent1.1"],
      is: "unknown_place",
    },
    {
      name: "may look at every context",
      does: ["read", "list"],
      to: ["/contexts/docs/a", "/contexts/site/secrets/a"],
      is: "allowed",
    },
    {
      name: "may not change a read-only context",
      does: ["write", "delete"],
      to: ["/contexts/docs/known"],
      is: "read_only",
    },
    {
      name: "may change a writable context",
      does: ["write"],
      to: ["/contexts/site/a"],
      is: "allowed",
    },
    {
      name: "may not change its protected files",
      does: ["write", "delete"],
      to: [
        "/contexts/site/secrets/known",
        "/contexts/site/secrets",
        "/contexts/site/sub/key.pem",
        "/contexts/site/Secrets/a",
      ],
      is: "protected",
    },
    {
      name: "may not reach a context that the team does not name",
      does: ["read", "write"],
      to: ["/contexts/other/a"],
      is: "unknown_place",
    },
    {
      name: "may look at the directories above",
      does: ["list", "read"],
      to: ["/", "/peers", "/contexts"],
      is: "allowed",
    },
    {
      name: "may not change the directories above",
      does: ["write", "delete"],
      to: ["/", "/peers", "/contexts"],
      is: "read_only",
    },
  ])("$name", ({ does, to, is }) => {
    for (const operation of does)
      for (const path of to)
        expect([operation, path, judged(operation, path)]).toEqual([operation, path, is]);
  });

  it("gets the list of places when it asks for a missing one", () => {
    expect(refusalOf("read", parsePath("/peers/agent9/a"), ACCESS)?.message).toBe(
      "/peers/agent9/a is not one of the places you see. There are /peers/agent1, /peers/agent2.",
    );
  });
});

describe("a protected path", () => {
  it.each<{ name: string; entries: string[]; keeps: string[]; leaves: string[] }>([
    {
      name: "may be a file",
      entries: ["config/prod.yaml"],
      keeps: ["config/prod.yaml"],
      leaves: ["config/dev.yaml", "a/config/prod.yaml"],
    },
    {
      name: "may be a file in any folder",
      entries: [".env"],
      keeps: [".env", "a/b/.env"],
      leaves: [".env.sample"],
    },
    {
      name: "may be a folder with all in it",
      entries: ["secrets/"],
      keeps: ["secrets", "secrets/a/b", "x/secrets/a"],
      leaves: ["secrets.txt"],
    },
    {
      name: "may start with ./",
      entries: ["./src/a.ts"],
      keeps: ["src/a.ts"],
      leaves: ["src/b.ts"],
    },
    {
      name: "may start with a slash",
      entries: ["/src/a.ts", "/lib"],
      keeps: ["src/a.ts", "lib/b"],
      leaves: ["x/lib/b"],
    },
    {
      name: "may be a pattern",
      entries: ["*.pem", "db/**/*.sql"],
      keeps: ["a.pem", "x/a.pem", "db/1/2/a.sql"],
      leaves: ["a.sql"],
    },
    {
      name: "may be taken back",
      entries: ["*.env", "!sample.env"],
      keeps: ["prod.env"],
      leaves: ["sample.env"],
    },
    {
      name: "may look like a pattern",
      entries: ["app/[slug]/page.tsx"],
      keeps: ["app/[slug]/page.tsx"],
      leaves: ["app/x/page.tsx"],
    },
    {
      name: "may look like a comment",
      entries: ["#notes.md"],
      keeps: ["#notes.md"],
      leaves: ["notes.md"],
    },
    {
      name: "applies in another case",
      entries: ["Secret.txt"],
      keeps: ["secret.TXT", "SECRET.txt"],
      leaves: ["secrets.txt"],
    },
    {
      name: "applies with any encoding of its accents",
      entries: ["re\u0301sume\u0301"],
      keeps: ["r\u00e9sum\u00e9/a"],
      leaves: ["resume"],
    },
    {
      name: "protects everything if one entry is invalid",
      entries: ["*".concat("/a*".repeat(5))],
      keeps: ["anything"],
      leaves: [],
    },
    {
      name: "protects everything if there are too many entries",
      entries: Array.from({ length: 201 }, (_, n) => `f${n}`),
      keeps: ["anything"],
      leaves: [],
    },
    { name: "protects nothing if there is none", entries: [], keeps: [], leaves: ["a", ".env"] },
  ])("$name", ({ entries, keeps, leaves }) => {
    const isProtected = protection(entries);
    expect(keeps.filter((path) => !isProtected(path))).toEqual([]);
    expect(leaves.filter(isProtected)).toEqual([]);
  });

  it("is listed once, the team's entries first", () => {
    expect(entriesOf({ protectedPaths: ["a", "b"], teamProtectedPaths: ["*.pem", "b"] })).toEqual([
      "*.pem",
      "b",
      "a",
    ]);
    expect(entriesOf({ protectedPaths: ["a"] })).toEqual(["a"]);
  });

  it("of a session from before the separation of agent and team entries is still protected", () => {
    const isProtected = protectionOf({ protectedPaths: ["*.pem", "!keep.pem"] });
    expect(["a.pem", "keep.pem"].filter(isProtected)).toEqual(["a.pem"]);
  });

  it.each([
    { entry: "", problem: "it names nothing" },
    { entry: "./", problem: "it names nothing" },
    { entry: "a".repeat(256), problem: "it is longer than 255 characters" },
    { entry: "a\nb", problem: "it contains a control character" },
    { entry: "../other", problem: "it contains .., but paths are relative to the context" },
    { entry: "*a*b*c*d*e", problem: "it has more than 4 wildcards" },
    { entry: "src/**/*.test.*", problem: null },
  ])("$entry: $problem", ({ entry, problem }) => {
    expect(protectedPathProblem(entry)).toBe(problem);
  });

  it("is found in bounded time, for any wildcards", () => {
    const isProtected = protection([`${"**/a/".repeat(PROTECTION_LIMITS.wildcards)}b`]);
    const before = cpuMs();
    expect(isProtected(`${"a/".repeat(39)}c`)).toBe(false);
    expect(cpuMs() - before).toBeLessThan(2_000);
  });
});
