import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkTeam, type ConfigContext } from "../../src/config/parse-team";
import { SERVED, type Served } from "../../src/config/needs";
import { KEY_NAMES } from "../../src/providers/hosts";
import { planBridge, TOKEN_SECRET } from "../../scripts/bridge/plan";
import { ALL_SERVED } from "./teams";

/** MassGen's own example files, where they lie beside the repository. An operator who has every key and allows nothing private. */
const EXAMPLES = path.resolve("../shared/massgen-configs");
const CONTEXT: ConfigContext = {
  storedKeys: KEY_NAMES,
  contexts: new Set(),
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};
/** Where a warning may stand: about a terminal, and of a path that only switches workspaces on. */
const QUIET = /^\/ui\/|\/(cwd|snapshot_storage|agent_temporary_workspace|command_line_\w+)$/;
const names = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"))
  : [];

const readExample = (name: string) => readFileSync(path.join(EXAMPLES, name), "utf8");
const check = (name: string, context = CONTEXT) => checkTeam(readExample(name), context);
/** Features that sessions have by now are needs no more. */
const isUnserved = (need: string, served: Served) =>
  !Object.entries(served).some(([name, isServed]) => name === need && isServed);
const NEEDS: Record<string, string[]> = names.length > 0 ? JSON.parse(readExample("needs.json")) : {};

describe.skipIf(names.length === 0)("MassGen's examples [needs ../shared/massgen-configs]", () => {
  it("are the files whose needs are known", () => expect(names.toSorted()).toEqual(Object.keys(NEEDS).toSorted()));

  for (const name of names) {
    it(`${name} runs, or is refused once for each thing it needs`, ({ task }) => {
      const { runnable, errors, refusals } = check(name);
      const needs = refusals.flatMap(({ need }) => need ?? []);
      task.meta.sample = { file: name, needs };
      expect(errors).toEqual([]);
      expect(needs.toSorted()).toEqual(NEEDS[name]?.filter((need) => isUnserved(need, SERVED)));
      expect(runnable).toBe(needs.length === 0);
      for (const { line, detail } of refusals) {
        expect(line).toBeGreaterThan(0);
        expect(detail).toMatch(/\.$/);
      }
    });
  }

  it.each([
    "basic/multi/three_agents_vllm.yaml",
    "basic/multi/two_agents_opensource_lmstudio.yaml",
    "basic/multi/two_qwen_vllm_sglang.yaml",
    "providers/local/lmstudio.yaml",
  ])("run where the operator allows servers of this machine: %s", (name) => {
    expect(check(name, { ...CONTEXT, allowedOrigins: ["http://localhost:*"] })).toMatchObject({ runnable: true });
  });

  const BRIDGED = new Set(["stdio_mcp", "localhost_mcp"]);
  it.each(
    names.filter(
      (name) =>
        NEEDS[name]?.some((need) => BRIDGED.has(need)) &&
        NEEDS[name]?.every((need) => BRIDGED.has(need) || !isUnserved(need, SERVED)),
    ),
  )("run with their servers bridged: %s", (name) => {
    const options = { host: "127.0.0.1", port: 8765, urls: new Map(), variables: {}, directory: "/home/me" };
    const { config, programs } = planBridge(readExample(name), options);
    const origins = programs.map(({ port }) => `http://127.0.0.1:${port}`);
    const context = {
      ...CONTEXT,
      allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
      toolSecrets: [{ name: TOKEN_SECRET, origins }],
    };
    expect(checkTeam(config, context)).toMatchObject({ runnable: true, errors: [], refusals: [] });
  });

  it("lose nothing where they run: no warning but about display, paths, research calls, prices and keys", () => {
    const codes = names.filter((name) => check(name).runnable).flatMap((name) => check(name).warnings);
    const others = codes.filter(({ code, pointer }) => code === "no_effect" && !QUIET.test(pointer));
    expect(others).toEqual([]);
  });

  it("that need only what sessions get run where they have it", () => {
    const context = { ...CONTEXT, served: ALL_SERVED };
    const kinds = ["workspace", "shell"];
    const ready = names.filter((name) => NEEDS[name]?.length && NEEDS[name].every((need) => kinds.includes(need)));
    expect(ready.length).toBeGreaterThan(2);
    for (const name of ready) expect([name, check(name, context).errors, check(name, context).refusals]).toEqual([name, [], []]);
  });

  it("that need files of a machine run when these are uploaded and named", () => {
    const context = { ...CONTEXT, contexts: new Set(["project"]) };
    const kinds = ["workspace", "shell", "host_context_path"];
    const ready = names.filter(
      (name) => NEEDS[name]?.includes("host_context_path") && NEEDS[name].every((need) => kinds.includes(need)),
    );
    expect(ready.length).toBeGreaterThan(0);
    for (const name of ready) {
      const named = readExample(name).replaceAll(/^(\s+- path:) .*$/gm, "$1 project");
      expect([name, checkTeam(named, context).errors, checkTeam(named, context).refusals]).toEqual([name, [], []]);
    }
  });
});
