import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { acceptAttachments } from "../../durable-objects/attachments";
import { checkTeam, type ConfigContext, parseTeam } from "../../src/config/parse-team";
import { SERVED, type Served } from "../../src/config/needs";
import { KEY_NAMES } from "../../src/providers/hosts";
import { planBridge, TOKEN_SECRET } from "../../scripts/bridge/plan";
import { questionTo } from "./sample-question";
import { documentSamples, isMet, SAMPLES_COMMAND, type Sample } from "./sample-table";
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
/** What files for the question a sample names, the command line sends: as of any of them a path or an address with https. */
const expectedNeeds = (name: string): string[] | undefined =>
  NEEDS[name]?.filter((need) => need !== "upload_files" && isUnserved(need, SERVED));

/** A config whose files of a machine were uploaded as `project`. */
const withContextsNamed = (yaml: string) => yaml.replaceAll(/^(\s+- path:) .*$/gm, "$1 project");

/** A config whose tool servers were started beside the user, and where these listen. */
function bridged(source: string): { yaml: string; origins: string[] } {
  const options = { host: "127.0.0.1", port: 8765, urls: new Map(), variables: {}, directory: "/home/me" };
  const { config, programs } = planBridge(source, options);
  return { yaml: config, origins: programs.map(({ port }) => `http://127.0.0.1:${port}`) };
}

/** How a sample stands that is asked with the files it names. */
async function sampleOf(name: string): Promise<Sample> {
  const { yaml, names: sent } = await questionTo(readExample(name), EXAMPLES);
  const { refusals } = checkTeam(yaml, { ...CONTEXT, attached: sent });
  return { file: name, needs: refusals.flatMap(({ need }) => need ?? []), sent };
}

describe.skipIf(names.length === 0)("MassGen's examples [needs ../shared/massgen-configs]", () => {
  it("are the files whose needs are known", () => expect(names.toSorted()).toEqual(Object.keys(NEEDS).toSorted()));

  it(`stand in docs/massgen-configs.md as they stand here; if not: ${SAMPLES_COMMAND}`, async () => {
    const samples = await Promise.all(names.map(sampleOf));
    await expect(documentSamples(samples), SAMPLES_COMMAND).toMatchFileSnapshot("../../docs/massgen-configs.md");
  });

  for (const name of names) {
    it(`${name} runs with the files it sends, or is refused once for each thing it needs`, async ({ task }) => {
      const { yaml, names: sent, attachments } = await questionTo(readExample(name), EXAMPLES);
      const { runnable, errors, refusals } = checkTeam(yaml, { ...CONTEXT, attached: sent });
      const needs = refusals.flatMap(({ need }) => need ?? []);
      task.meta.sample = { file: name, needs, sent };
      expect(errors).toEqual([]);
      expect(needs.toSorted()).toEqual(expectedNeeds(name));
      const parsed = parseTeam(yaml, { ...CONTEXT, attached: sent });
      if (parsed.ok) expect(acceptAttachments(parsed.team, attachments, () => [])).toMatchObject({ ok: true });
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

  it.each(names.filter((name) => NEEDS[name]?.includes("upload_files")))(
    "are refused for their files where nothing comes with the question: %s",
    (name) => {
      const { runnable, refusals } = check(name);
      expect([runnable, refusals.map(({ need }) => need)]).toEqual([false, ["upload_files"]]);
    },
  );

  it.each(names.filter((name) => expectedNeeds(name)?.every(isMet)))("run as the table says: %s", async (name) => {
    const sent = await questionTo(readExample(name), EXAMPLES);
    const { yaml, origins } = bridged(withContextsNamed(sent.yaml));
    const context = {
      ...CONTEXT,
      attached: sent.names,
      contexts: new Set(["project"]),
      allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
      toolSecrets: [{ name: TOKEN_SECRET, origins }],
    };
    expect(checkTeam(yaml, context)).toMatchObject({ runnable: true, errors: [], refusals: [] });
  });

  it("are refused by nothing else where they need only files, commands, uploads and tool servers", () => {
    const had = new Set(["workspace", "shell", "host_context_path", "upload_files", "http_mcp", "stdio_mcp", "localhost_mcp"]);
    const ready = names.filter((name) => NEEDS[name]?.every((need) => had.has(need)));
    expect(ready.length).toBeGreaterThan(20);
    expect(ready.filter((name) => !expectedNeeds(name)?.every(isMet))).toEqual([]);
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
});
