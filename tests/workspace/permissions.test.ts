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
 * An agent that sees two peers, may read the context `docs`, may write the context `site` except
 * its protected files, and has read all files with the name `known`.
 */
const ACCESS: Access = {
  peers: new Set(["agent1", "agent2"]),
  contexts: new Map([
    ["docs", { writable: false, isProtected: () => false }],
    ["site", { writable: true, isProtected: protection(["secrets/", "*.pem"]) }],
  ]),
  knows: (path) => path.endsWith("/known"),
};

const decisionOn = (operation: FileOperation, path: string): string =>
  refusalOf(operation, parsePath(path), ACCESS)?.code ?? "allowed";

/** All operations at all paths have the same decision: `allowed`, or the code of the refusal. */
type Row = { name: string; operations: FileOperation[]; paths: string[]; decision: string };

describe("an agent", () => {
  it.each<Row>([
    {
      name: "may read and change its own workspace",
      operations: ["read", "list", "write"],
      paths: ["a", "/workspace"],
      decision: "allowed",
    },
    {
      name: "may delete files that it has read",
      operations: ["delete"],
      paths: ["known", "/contexts/site/known"],
      decision: "allowed",
    },
    {
      name: "may not delete files that it has not read",
      operations: ["delete"],
      paths: ["a", "/contexts/site/a"],
      decision: "not_read",
    },
    {
      name: "may read and list peers that it was shown",
      operations: ["read", "list"],
      paths: ["/peers/agent1/a", "peers/agent2"],
      decision: "allowed",
    },
    {
      name: "may not change a peer's files",
      operations: ["write", "delete"],
      paths: ["/peers/agent1/known", "/peers/agent1"],
      decision: "read_only",
    },
    {
      name: "may not use a peer that it was not shown",
      operations: ["read", "list", "write", "delete"],
      paths: ["/peers/agent3/a"],
      decision: "unknown_place",
    },
    {
      name: "may not use a peer's real name",
      operations: ["read", "list"],
      paths: ["/peers/researcher/a", "/peers/agent1.1"],
      decision: "unknown_place",
    },
    {
      name: "may read and list every context",
      operations: ["read", "list"],
      paths: ["/contexts/docs/a", "/contexts/site/secrets/a"],
      decision: "allowed",
    },
    {
      name: "may not change a read-only context",
      operations: ["write", "delete"],
      paths: ["/contexts/docs/known"],
      decision: "read_only",
    },
    {
      name: "may change a writable context",
      operations: ["write"],
      paths: ["/contexts/site/a"],
      decision: "allowed",
    },
    {
      name: "may not change the protected files of a writable context",
      operations: ["write", "delete"],
      paths: [
        "/contexts/site/secrets/known",
        "/contexts/site/secrets",
        "/contexts/site/sub/key.pem",
        "/contexts/site/Secrets/a",
      ],
      decision: "protected",
    },
    {
      name: "may not reach a context that the team does not name",
      operations: ["read", "write"],
      paths: ["/contexts/other/a"],
      decision: "unknown_place",
    },
    {
      name: "may list and read the directories above mounts",
      operations: ["list", "read"],
      paths: ["/", "/peers", "/contexts"],
      decision: "allowed",
    },
    {
      name: "may not change the directories above mounts",
      operations: ["write", "delete"],
      paths: ["/", "/peers", "/contexts"],
      decision: "read_only",
    },
  ])("$name", ({ operations, paths, decision }) => {
    for (const operation of operations)
      for (const path of paths)
        expect([operation, path, decisionOn(operation, path)]).toEqual([operation, path, decision]);
  });

  it("gets a list of the peers if it names a missing peer", () => {
    expect(refusalOf("read", parsePath("/peers/agent9/a"), ACCESS)?.message).toBe(
      "/peers/agent9/a is not one of the places you see. There are /peers/agent1, /peers/agent2.",
    );
  });
});

describe("a protected path", () => {
  it.each<{ name: string; entries: string[]; protectedPaths: string[]; others: string[] }>([
    {
      name: "may be a file",
      entries: ["config/prod.yaml"],
      protectedPaths: ["config/prod.yaml"],
      others: ["config/dev.yaml", "a/config/prod.yaml"],
    },
    {
      name: "may be a file in any folder",
      entries: [".env"],
      protectedPaths: [".env", "a/b/.env"],
      others: [".env.sample"],
    },
    {
      name: "may be a folder with its contents",
      entries: ["secrets/"],
      protectedPaths: ["secrets", "secrets/a/b", "x/secrets/a"],
      others: ["secrets.txt"],
    },
    {
      name: "may start with ./",
      entries: ["./src/a.ts"],
      protectedPaths: ["src/a.ts"],
      others: ["src/b.ts"],
    },
    {
      name: "may start with a slash",
      entries: ["/src/a.ts", "/lib"],
      protectedPaths: ["src/a.ts", "lib/b"],
      others: ["x/lib/b"],
    },
    {
      name: "may be a pattern",
      entries: ["*.pem", "db/**/*.sql"],
      protectedPaths: ["a.pem", "x/a.pem", "db/1/2/a.sql"],
      others: ["a.sql"],
    },
    {
      name: "may be excluded again",
      entries: ["*.env", "!sample.env"],
      protectedPaths: ["prod.env"],
      others: ["sample.env"],
    },
    {
      name: "may be a file whose name looks like a pattern",
      entries: ["app/[slug]/page.tsx"],
      protectedPaths: ["app/[slug]/page.tsx"],
      others: ["app/x/page.tsx"],
    },
    {
      name: "may be a file whose name looks like a comment",
      entries: ["#notes.md"],
      protectedPaths: ["#notes.md"],
      others: ["notes.md"],
    },
    {
      name: "applies in another case",
      entries: ["Secret.txt"],
      protectedPaths: ["secret.TXT", "SECRET.txt"],
      others: ["secrets.txt"],
    },
    {
      name: "applies with composed and decomposed accents",
      entries: ["re\u0301sume\u0301"],
      protectedPaths: ["r\u00e9sum\u00e9/a"],
      others: ["resume"],
    },
    {
      name: "protects everything if one entry is invalid",
      entries: ["*".concat("/a*".repeat(5))],
      protectedPaths: ["anything"],
      others: [],
    },
    {
      name: "protects everything if there are too many entries",
      entries: Array.from({ length: 201 }, (_, n) => `f${n}`),
      protectedPaths: ["anything"],
      others: [],
    },
    {
      name: "is none if the list is empty",
      entries: [],
      protectedPaths: [],
      others: ["a", ".env"],
    },
  ])("$name", ({ entries, protectedPaths, others }) => {
    const isProtected = protection(entries);
    expect(protectedPaths.filter((path) => !isProtected(path))).toEqual([]);
    expect(others.filter(isProtected)).toEqual([]);
  });

  it("is listed once, and the team's entries are first", () => {
    expect(entriesOf({ protectedPaths: ["a", "b"], teamProtectedPaths: ["*.pem", "b"] })).toEqual([
      "*.pem",
      "b",
      "a",
    ]);
    expect(entriesOf({ protectedPaths: ["a"] })).toEqual(["a"]);
  });

  it("remains protected in older sessions, which have one list for agent and team", () => {
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
  ])("'$entry' has this problem: $problem", ({ entry, problem }) => {
    expect(protectedPathProblem(entry)).toBe(problem);
  });

  it("is matched in bounded time, even with the maximum of wildcards", () => {
    const isProtected = protection([`${"**/a/".repeat(PROTECTION_LIMITS.wildcards)}b`]);
    const before = cpuMs();
    expect(isProtected(`${"a/".repeat(39)}c`)).toBe(false);
    expect(cpuMs() - before).toBeLessThan(2_000);
  });
});
