import { describe, expect, it } from "vitest";
import { acceptAttachments } from "../../src/agents/attached";
import { checkTeam, parseTeam } from "../../src/config/parse-team";
import { SERVED, type Features } from "../../src/config/needs";
import { planBridge, TOKEN_SECRET } from "../../local/bridge/plan";
import { questionTo } from "./sample-question";
import { documentSamples, isMet, SAMPLES_COMMAND } from "./sample-table";
import {
  EXAMPLES,
  PUSHED_AS,
  readSample,
  SAMPLE_NAMES,
  SAMPLES_CONTEXT,
  sampleOf,
  withContextsNamed,
} from "./samples";
import { ALL_SERVED } from "./teams";

/** Pointers of allowed warnings: the display, and paths that only enable workspaces. */
const ALLOWED_WARNINGS =
  /^\/ui\/|\/(cwd|snapshot_storage|agent_temporary_workspace|command_line_\w+)$/;
const check = (name: string, context = SAMPLES_CONTEXT) => checkTeam(readSample(name), context);
/** Whether sessions do not support a needed feature. */
const isUnsupported = (need: string, served: Features) =>
  !Object.entries(served).some(([name, isServed]) => name === need && isServed);
const NEEDS: Record<string, string[]> =
  SAMPLE_NAMES.length > 0 ? JSON.parse(readSample("needs.json")) : {};
/**
 * The unsupported needs of a sample. The command line sends its files with the question, so
 * `upload_files` is not among the needs.
 */
const expectedNeeds = (name: string): string[] | undefined =>
  NEEDS[name]?.filter((need) => need !== "upload_files" && isUnsupported(need, SERVED));

/** A config that connects local programs through the bridge, and the addresses of the bridge. */
function bridged(source: string): { yaml: string; origins: string[] } {
  const options = {
    host: "127.0.0.1",
    port: 8765,
    urls: new Map(),
    variables: {},
    directory: "/home/me",
  };
  const { config, programs } = planBridge(source, options);
  return { yaml: config, origins: programs.map(({ port }) => `http://127.0.0.1:${port}`) };
}

describe.skipIf(SAMPLE_NAMES.length === 0)(
  "MassGen's examples [needs ../shared/massgen-configs]",
  () => {
    it("are all listed in needs.json", () =>
      expect(SAMPLE_NAMES.toSorted()).toEqual(Object.keys(NEEDS).toSorted()));

    it(`are listed correctly in docs/reference/massgen-configs.md; to update: ${SAMPLES_COMMAND}`, async () => {
      const samples = await Promise.all(SAMPLE_NAMES.map(sampleOf));
      await expect(documentSamples(samples), SAMPLES_COMMAND).toMatchFileSnapshot(
        "../../docs/reference/massgen-configs.md",
      );
    });

    for (const name of SAMPLE_NAMES) {
      it(`${name} runs with its attached files, or is refused once for each missing feature`, async ({
        task,
      }) => {
        const { yaml, names: sent, attachments } = await questionTo(readSample(name), EXAMPLES);
        const { runnable, errors, refusals } = checkTeam(yaml, {
          ...SAMPLES_CONTEXT,
          attached: sent,
        });
        const needs = refusals.flatMap(({ need }) => need ?? []);
        task.meta.sample = { file: name, needs, sent };
        expect(errors).toEqual([]);
        expect(needs.toSorted()).toEqual(expectedNeeds(name));
        const parsed = parseTeam(yaml, { ...SAMPLES_CONTEXT, attached: sent });
        if (parsed.ok)
          expect(acceptAttachments(parsed.team, attachments, () => [])).toMatchObject({ ok: true });
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
    ])("run if the operator allows servers on this machine: %s", (name) => {
      expect(
        check(name, { ...SAMPLES_CONTEXT, allowedOrigins: ["http://localhost:*"] }),
      ).toMatchObject({ runnable: true });
    });

    it.each(SAMPLE_NAMES.filter((name) => NEEDS[name]?.includes("upload_files")))(
      "are refused for their files if the question has no attachments: %s",
      (name) => {
        const { runnable, refusals } = check(name);
        expect([runnable, refusals.map(({ need }) => need)]).toEqual([false, ["upload_files"]]);
      },
    );

    it.each(SAMPLE_NAMES.filter((name) => expectedNeeds(name)?.every(isMet)))(
      "run after the step in their row of the table: %s",
      async (name) => {
        const sent = await questionTo(readSample(name), EXAMPLES);
        const { yaml, origins } = bridged(withContextsNamed(sent.yaml));
        const context = {
          ...SAMPLES_CONTEXT,
          attached: sent.names,
          contexts: new Set([PUSHED_AS]),
          allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
          allowedToolOrigins: origins,
          toolSecrets: [{ name: TOKEN_SECRET, bindings: origins.map((origin) => ({ origin })) }],
        };
        expect(checkTeam(yaml, context)).toMatchObject({
          runnable: true,
          errors: [],
          refusals: [],
        });
      },
    );

    it("are not refused for other reasons if they need only files, commands, uploads and tool servers", () => {
      const supported = new Set([
        "workspace",
        "shell",
        "host_context_path",
        "upload_files",
        "http_mcp",
        "stdio_mcp",
        "localhost_mcp",
      ]);
      const ready = SAMPLE_NAMES.filter((name) =>
        NEEDS[name]?.every((need) => supported.has(need)),
      );
      expect(ready.length).toBeGreaterThan(20);
      expect(ready.filter((name) => !expectedNeeds(name)?.every(isMet))).toEqual([]);
    });

    it("have only expected warnings: about display, paths, research calls, prices and keys", () => {
      const warnings = SAMPLE_NAMES.filter((name) => check(name).runnable).flatMap(
        (name) => check(name).warnings,
      );
      const others = warnings.filter(
        ({ code, pointer }) => code === "no_effect" && !ALLOWED_WARNINGS.test(pointer),
      );
      expect(others).toEqual([]);
    });

    it("run if sessions have the features that they need", () => {
      const context = { ...SAMPLES_CONTEXT, served: ALL_SERVED };
      const kinds = ["workspace", "shell"];
      const ready = SAMPLE_NAMES.filter(
        (name) => NEEDS[name]?.length && NEEDS[name].every((need) => kinds.includes(need)),
      );
      expect(ready.length).toBeGreaterThan(2);
      for (const name of ready)
        expect([name, check(name, context).errors, check(name, context).refusals]).toEqual([
          name,
          [],
          [],
        ]);
    });
  },
);
