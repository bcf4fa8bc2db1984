import { describe, expect, it } from "vitest";
import { importProblems } from "./imports";
import { parseSource, readSources } from "./source";

const problemsOf = (path: string, text: string) =>
  importProblems([parseSource(path, text)]).map((problem) => problem.message);

describe("the check of imports", () => {
  it.each([
    [
      "rules import the providers",
      "src/coordination/attempt.ts",
      `import { models } from "../providers/registry";`,
    ],
    [
      "rules import only a type from the providers",
      "src/coordination/attempt.ts",
      `import type { Provider } from "../providers/provider";`,
    ],
    ["rules import a package", "src/coordination/attempt.ts", `import { z } from "zod";`],
    [
      "the protocol imports the rules",
      "src/protocol/events.ts",
      `import { decide } from "../coordination/attempt";`,
    ],
    [
      "a lock imports the service",
      "src/async/mutex.ts",
      `import { decide } from "../coordination/decide";`,
    ],
    ["a clock imports a package", "src/async/clock.ts", `import { z } from "zod";`],
    [
      "a re-export reverses the direction",
      "src/protocol/index.ts",
      `export * from "../coordination/attempt";`,
    ],
    [
      "a dynamic import reverses the direction",
      "src/prompts/round.ts",
      `const m = await import("../agents/context");`,
    ],
    [
      "an inline type import reverses the direction",
      "src/prompts/round.ts",
      `type C = import("../agents/context").Context;`,
    ],
    [
      "a lower layer imports a type from a higher one",
      "src/config/parse.ts",
      `import type { Call } from "../agents/call";`,
    ],
    [
      "the API imports an object's code",
      "src/api/runs.ts",
      `import { SessionObject } from "../../durable-objects/session";`,
    ],
    [
      "the API imports a value and a type from an object in one statement",
      "src/api/runs.ts",
      `import { type A, B } from "../../durable-objects/session";`,
    ],
    [
      "the command line imports internals of the service",
      "cli/main.ts",
      `import { decide } from "../src/coordination/attempt";`,
    ],
    [
      "the client imports the command line",
      "client/follow.ts",
      `import { EXIT } from "../cli/exit-codes";`,
    ],
    ["the client imports a schema library", "client/schema.ts", `import { z } from "zod";`],
    [
      "the client imports a module of Node",
      "client/contexts.ts",
      `import { createHash } from "node:crypto";`,
    ],
    [
      "a description imports the rules",
      "src/describe/events.ts",
      `import { tally } from "../coordination";`,
    ],
    ["a description imports a package", "src/describe/events.ts", `import { diff } from "diff";`],
    ["a description imports the client", "src/describe/events.ts", `import "../../client/index";`],
    [
      "a lower layer bundles a team",
      "src/config/parse-team.ts",
      `import demo from "../../configs/teams/demo.yaml";`,
    ],
    [
      "the engine imports an object",
      "src/engine/engine.ts",
      `import { Journal } from "../../durable-objects/session/log/journal";`,
    ],
    [
      "the engine imports a type from an object",
      "src/engine/ports.ts",
      `import type { Journal } from "../../durable-objects/session/log/journal";`,
    ],
    [
      "the engine names the platform's storage",
      "src/engine/ports.ts",
      "export type Host = { storage: DurableObjectStorage };",
    ],
    [
      "agents import the engine",
      "src/agents/call.ts",
      `import { Engine } from "../engine/engine";`,
    ],
    ["the service imports a campaign", "src/worker.ts", `import { play } from "../proof/play";`],
    [
      "a test imports a campaign",
      "tests/docs/a.test.ts",
      `import { play } from "../../proof/play";`,
    ],
    [
      "a test imports a script",
      "tests/docs/a.test.ts",
      `import { demo } from "../../scripts/demo";`,
    ],
    [
      "a script imports a test's helper",
      "scripts/demo.ts",
      `import { log } from "../tests/protocol/builders";`,
    ],
    [
      "a simulated provider imports a test's helper",
      "simulated/disk.ts",
      `import { log } from "../tests/protocol/builders";`,
    ],
    [
      "the local service imports simulated parts",
      "local/proxy.ts",
      `import { chance } from "../simulated/chance";`,
    ],
    [
      "the checker imports the rules",
      "checker/votes.ts",
      `import { tally } from "../src/coordination";`,
    ],
    ["the service imports a script", "src/worker.ts", `import { demo } from "../scripts/demo";`],
    [
      "the platform is imported below the objects",
      "src/agents/call.ts",
      `import { env } from "cloudflare:workers";`,
    ],
    ["a folder of `src/` is in no layer", "src/extras/a.ts", "export const a = 1;"],
    ["a file of src/ is in no layer", "src/extras.ts", "export const a = 1;"],
    ["a top folder is neither a layer nor a room", "extras/a.ts", "export const a = 1;"],
    ["the sandbox imports the service", "sandbox/src/a.ts", `import "../../src/env";`],
    ["an SDK is imported outside its folder", "src/agents/call.ts", `import OpenAI from "openai";`],
    [
      "a part of an SDK is imported outside its folder",
      "src/providers/registry.ts",
      `import { APIError } from "openai/error";`,
    ],
    [
      "prompts import a module of Node",
      "src/prompts/round.ts",
      `import { createHash } from "node:crypto";`,
    ],
    [
      "R2 is named outside its folder",
      "durable-objects/session.ts",
      "type Env = { BUCKET: R2Bucket };",
    ],
    [
      "code outside a vendor's folder compares with the vendor's name",
      "src/agents/call.ts",
      `if (backend === "openai") retry();`,
    ],
    [
      "an identifier contains a vendor's name",
      "src/agents/call.ts",
      "const anthropicQuirk = true;",
    ],
    [
      "a vendor's name is in a template",
      "src/prompts/round.ts",
      "const text = `You are Claude, ${name}`;",
    ],
    [
      "a vendor's name is in another vendor's folder",
      "src/providers/openai-chat/request.ts",
      `const host = "api.groq.com";`,
    ],
  ])("reports a problem if %s", (_, path, text) => {
    expect(problemsOf(path, text)).not.toEqual([]);
  });

  it.each([
    [
      "rules import the protocol",
      "src/coordination/attempt.ts",
      `import { isTerminal } from "../protocol/events";`,
    ],
    [
      "a file imports a file of the same folder",
      "src/coordination/attempt.ts",
      `import { owed } from "./owed";`,
    ],
    [
      "the worker bundles a team",
      "src/worker.ts",
      `import demo from "../configs/teams/demo.yaml";`,
    ],
    [
      "the engine imports the rules",
      "src/engine/engine.ts",
      `import { owed } from "../coordination";`,
    ],
    [
      "an object imports the engine",
      "durable-objects/session/compose.ts",
      `import { Engine } from "../../src/engine/engine";`,
    ],
    [
      "agents import providers",
      "src/agents/call.ts",
      `import { ProviderError } from "../providers/provider";`,
    ],
    [
      "agents import the team's type",
      "src/agents/call.ts",
      `import type { Team } from "../config/team";`,
    ],
    [
      "the command line uses the client",
      "cli/asking/watch.ts",
      `import { Client } from "../../client/index";`,
    ],
    [
      "the command line describes events",
      "cli/asking/watch.ts",
      `import { describeEvent } from "../../src/describe/events";`,
    ],
    [
      "the client imports the service's types",
      "client/types.ts",
      `export type { RunRequest } from "../src/protocol/api";`,
    ],
    [
      "the client reads the event stream with a parser",
      "client/event-stream.ts",
      `import { createParser } from "eventsource-parser";`,
    ],
    [
      "the API imports an object's type",
      "src/api/runs.ts",
      `import type { SessionObject } from "../../durable-objects/session";`,
    ],
    [
      "objects import the platform",
      "durable-objects/session.ts",
      `import { DurableObject } from "cloudflare:workers";`,
    ],
    [
      "an SDK is used in its folder",
      "src/providers/openai-chat/index.ts",
      `import OpenAI from "openai";`,
    ],
    ["R2 is named in its folder", "r2-layout/bucket.ts", "export type Bucket = R2Bucket;"],
    [
      "the registry names vendors",
      "src/providers/registry.ts",
      `export const hosts = ["api.groq.com", "api.openai.com"];`,
    ],
    ["a team names its wire format", "src/config/team.ts", `export type Format = "openai-chat";`],
    [
      "a comment names a vendor",
      "src/agents/call.ts",
      "// what Claude calls tool_use\nexport const a = 1;",
    ],
    [
      "the checker reads the protocol",
      "checker/votes.ts",
      `import type { SessionEvent } from "../src/protocol/events";`,
    ],
    [
      "a test imports the sizes of proof",
      "tests/docs/a.test.ts",
      `import { countOf } from "../../proof/counts";`,
    ],
    [
      "a campaign imports a test's helper",
      "proof/play.ts",
      `import { log } from "../tests/protocol/builders";`,
    ],
    [
      "a test imports an SDK and the worker",
      "tests/agents/call.test.ts",
      `import OpenAI from "openai"; import { x } from "../../src/worker";`,
    ],
  ])("reports nothing if %s", (_, path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });

  it("reports the line of the import", () => {
    const source = parseSource(
      "src/coordination/a.ts",
      `export const a = 1;\n\nimport { b } from "../agents/b";`,
    );
    expect(importProblems([source])).toEqual([
      expect.objectContaining({ path: "src/coordination/a.ts", line: 3 }),
    ]);
  });

  it("reads the repository's own files, including these tests", async () => {
    const paths = (await readSources(".")).map((source) => source.path);
    expect(paths).toContain("src/protocol/events/index.ts");
    expect(paths).toContain("scripts/checks/imports.test.ts");
    expect(paths).toContain("scripts/run.mjs");
    expect(paths).toContain("vitest.config.ts");
    expect(paths).toContain("sandbox/src/index.ts");
  });
});
