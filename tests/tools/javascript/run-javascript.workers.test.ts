import { env } from "cloudflare:workers";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { javascriptRunner, runJavascriptTool } from "../../../src/tools/javascript";
import { JAVASCRIPT_LIMITS } from "../../../src/tools/javascript/script-limits";
import type { ToolContext } from "../../../src/tools/tool";
import { Mutex } from "../../../src/async/mutex";
import { agentFiles, runTool } from "../files/agent-tree";
import { ENDLESS_CODE } from "./endless-code";

/** Runs models' code in workers that workerd creates. */

const loader = env.LOADER;
if (!loader) throw new Error("these tests need a worker loader");

const toolWith = (limits = JAVASCRIPT_LIMITS) =>
  runJavascriptTool({ runner: javascriptRunner(loader, limits), mutex: new Mutex() }, limits);
const WORLD = {
  workspace: { "a.csv": "1,2\n3,4\n", "b.bin": new Uint8Array([0, 1]) },
  peers: { agent2: { "c.txt": "see" } },
};

async function run(
  args: { code: string; files?: string[]; timeout_ms?: number },
  overrides: Partial<ToolContext> = {},
) {
  return runTool(toolWith(), args, await agentFiles(WORLD), overrides);
}
const outputOf = async (code: string) => (await run({ code })).text;

describe("run_javascript", () => {
  it.each([
    { code: "return 6 * 7", text: "[returned]\n42" },
    { code: "return await Promise.resolve('text')", text: "[returned]\ntext" },
    {
      code: "return { a: [1, NaN, 2n], m: new Map([[1, new Set([2])]]), f() {} }",
      text: '[returned]\n{"a":[1,"NaN","2n"],"m":[[1,[2]]],"f":"[function f]"}',
    },
    { code: "return new Uint8Array([1, 2])", text: "[returned]\n[1,2]" },
    { code: "return null", text: "[returned]\nnull" },
    {
      code: "const a = {}; a.a = a; return a",
      text: "[cannot be shown: Converting circular structure",
    },
    { code: "let a = 1 // and no more", text: "[no output, and nothing was returned]" },
    {
      code: "console.log('a', 1, { b: [2] }); console.error(new TypeError('c')); console.assert(1 > 2, 'd')",
      text: 'a 1 {"b":[2]}\nTypeError: c\nAssertion failed: d',
    },
    {
      code: "console.log(1); await new Promise((r) => setTimeout(r, 20)); console.table([2]); return 3",
      text: "1\n[2]\n[returned]\n3",
    },
    {
      code: "const files = 1, console = 2, fetch = 3; return files + console + fetch",
      text: "[returned]\n6",
    },
  ])("returns the result of $code", async ({ code, text }) => {
    const result = await run({ code });
    expect(result.text).toContain(text);
    expect(result.outcome).toBe("ok");
  });

  it("passes the texts of files to the code, and records each read", async () => {
    const files = await agentFiles(WORLD);
    const code =
      "return files['a.csv'].split('\\n')[1] + files['/peers/agent2/c.txt'] + Object.keys(files).length";
    const result = await runTool(
      toolWith(),
      { code, files: ["a.csv", "/peers/agent2/c.txt"] },
      files,
    );
    expect(result).toEqual({ outcome: "ok", text: "[returned]\n3,4see2" });
    expect(files.accessed.filter(({ operation }) => operation === "read")).toMatchObject([
      { path: "/workspace/a.csv", refused: null },
      { path: "/peers/agent2/c.txt", refused: null },
    ]);
    expect(files.staged().blobs.size).toBe(0);
  });

  it("runs the calls of a session one after the other", async () => {
    const tool = toolWith();
    const code = "const from = Date.now(); await scheduler.wait(60); return [from, Date.now()]";
    const calls = [1, 2, 3].map(
      async () => (await runTool(tool, { code }, await agentFiles({}))).text,
    );
    const times = (await Promise.all(calls)).map((text): number[] =>
      JSON.parse(text.replace("[returned]\n", "")),
    );
    const inOrder = times.toSorted(([a = 0], [b = 0]) => a - b).flat();
    expect(inOrder).toHaveLength(6);
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  });

  it.each([
    { files: ["none.txt"], text: "none.txt" },
    { files: ["b.bin"], text: "is not a text file" },
    { files: ["/peers/agent3/c.txt"], text: "agent3" },
  ])("does not run if a file cannot be read: $files", async ({ files, text }) => {
    const result = await run({ code: "return 1", files });
    expect(result.text).toContain(text);
    expect(result.outcome).toBe("error");
  });

  it("does not run with files above the limit", async () => {
    const tool = toolWith({ ...JAVASCRIPT_LIMITS, fileBytes: 7 });
    const result = await runTool(
      tool,
      { code: "return 1", files: ["a.csv"] },
      await agentFiles(WORLD),
    );
    expect(result).toEqual({
      outcome: "error",
      text: "These files have 8 bytes; 7 may be handed in. Make smaller parts of them.",
    });
  });

  it.each([
    {
      code: "let a\n\nnull.b",
      text: "TypeError: Cannot read properties of null (reading 'b') (line 3)",
    },
    {
      code: "const f = () => {\n  throw new RangeError('far')\n}\nf()",
      text: "RangeError: far (line 2)",
    },
    { code: "await null\nawait Promise.reject(new Error('late'))", text: "Error: late (line 2)" },
    { code: "throw { a: 1 }", text: 'Thrown: {"a":1}' },
    { code: "throw undefined", text: "Thrown: undefined" },
    {
      code: "function f() { f() } f()",
      text: "RangeError: Maximum call stack size exceeded (line 1)",
    },
    { code: "return 1 +", text: "SyntaxError: Unexpected token (line 1, column 10)" },
    { code: "\nreturn import.meta.url + new.target", text: "SyntaxError: " },
    {
      code: "return eval('1')",
      text: "EvalError: Code generation from strings disallowed for this context (line 1)",
    },
    {
      code: "return new Function('return 1')()",
      text: "EvalError: Code generation from strings disallowed",
    },
    {
      code: "return setTimeout.constructor('return 1')()",
      text: "EvalError: Code generation from strings disallowed",
    },
    {
      code: "return new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
      text: "CompileError: WebAssembly.Module()",
    },
    { code: "return require('fs')", text: "ReferenceError: require is not defined" },
    { code: "return process.env", text: "ReferenceError: process is not defined" },
    { code: "return await import('cloudflare:workers')", text: "There are no modules here" },
  ])("reports the error of $code", async ({ code, text }) => {
    const result = await run({ code });
    expect(result.text).toContain(text);
    expect(result.outcome).toBe("error");
  });

  it("returns the output before an error, up to a limit", async () => {
    const { text } = await run({ code: "console.log('before'); null.x" });
    expect(text).toContain("before\nTypeError");
    const long = await run({
      code: "for (let i = 0; i < 1e5; i++) console.log('0123456789'); return 'x'.repeat(2 ** 20)",
    });
    expect(long.text.length).toBeLessThan(2 * JAVASCRIPT_LIMITS.outputBytes + 200);
    expect(long.text.match(/\[Cut after 524288 bytes\. Put out less\.\]/g)).toHaveLength(2);
  });
});

describe("endless code", () => {
  afterEach(() => void vi.restoreAllMocks());
  /**
   * Disables `AbortSignal.timeout`. On a slow machine, the runner's timeout could otherwise end the
   * call before the limits of the code do.
   */
  const disableTimeouts = () =>
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);

  it.each(ENDLESS_CODE)("is stopped: $name", async ({ code }) => {
    disableTimeouts();
    const { text, outcome } = await run({ code, timeout_ms: 300 });
    expect(text).toContain("[The code was stopped: it");
    expect(outcome).toBe("error");
  });

  it.each([
    {
      name: "at its limit of steps",
      code: "console.log('a'); for (;;);",
      text: "a\n[The code was stopped: its loops and calls took too many steps",
    },
    {
      name: "if it catches the error of the guard",
      code: "for (;;) { try { for (;;); } catch (e) { console.log('caught') } }",
      text: "too many steps",
    },
    {
      name: "if it catches the error and then ends by itself",
      code: "try { for (;;); } catch {} return 1",
      text: "too many steps",
    },
    {
      name: "if its result is converted to text without end",
      code: "return { toJSON() { for (;;); } }",
      text: "too many steps",
    },
  ])("is stopped $name", async ({ code, text }) => {
    const tool = toolWith({ ...JAVASCRIPT_LIMITS, steps: 1_000_000 });
    const result = await runTool(tool, { code }, await agentFiles({}));
    expect(result.text).toContain(text);
    expect(result.outcome).toBe("error");
  });

  it.each([
    {
      name: "a promise that never settles",
      code: "console.log('waits'); await new Promise(() => {})",
    },
    {
      name: "repeating timers",
      code: "console.log('waits'); setInterval(() => {}, 1); await new Promise(() => {})",
    },
    { name: "a long sleep", code: "console.log('waits'); await scheduler.wait(60_000)" },
  ])("is stopped at its time limit: $name", async ({ code }) => {
    disableTimeouts();
    const { text } = await run({ code, timeout_ms: 200 });
    expect(text).toBe(
      "waits\n[The code was stopped: it took too long, perhaps a loop or a promise never ends. Do less in one call.]",
    );
  });

  it("that cancels the timer of its time limit is ended by the runner", async () => {
    const code =
      "for (let i = 0; i < 100; i++) clearTimeout(i); setInterval(() => {}, 10); await new Promise(() => {})";
    const { text, outcome } = await run({ code, timeout_ms: 100 });
    expect(text).toMatch(/^The code was stopped: it took too long\.|^The runtime ended the code/);
    expect(outcome).toBe("error");
  });

  it("is ended at once when its call is aborted", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("the turn is over")), 50);
    await expect(
      run({ code: "await new Promise(() => {})" }, { signal: controller.signal }),
    ).rejects.toThrow("the turn is over");
  });
});

describe("a worker of a model's code", () => {
  it("has no access to a network", async () => {
    const url = `${inject("providersUrl")}/counted`;
    const directResponse = await fetch(url);
    await directResponse.body?.cancel();
    expect(directResponse.status, "the server is running").toBeGreaterThan(0);
    expect(await outputOf(`return await fetch(${JSON.stringify(url)})`)).toContain(
      "TypeError: There is no network here.",
    );
    const platformFetch = `delete globalThis.fetch; const { fetch: real } = Object.getPrototypeOf(globalThis); return typeof real === "function" ? (await real(${JSON.stringify(url)})).status : "none"`;
    expect(await outputOf(platformFetch)).toMatch(/not permitted to access the internet|none/);
    expect(
      await outputOf(`new WebSocket(${JSON.stringify(url.replace("http", "ws"))}); return 1`),
    ).toContain("not permitted to access the internet");
    const eventSource = `return await new Promise((end) => { const s = new EventSource(${JSON.stringify(url)}); s.onopen = () => end("open"); s.onerror = () => end("refused") })`;
    expect(await outputOf(eventSource)).toContain("refused");
    expect(await outputOf(`return await caches.default.match(${JSON.stringify(url)})`)).toMatch(
      /Error/,
    );
  });

  it("has no secrets or bindings of the service in any global", async () => {
    const code = `
      const seen = new Set(), found = [];
      const look = (value, path) => {
        if (value === null || !["object", "function"].includes(typeof value) || seen.has(value) || path.split(".").length > 6) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) {
          let next; try { next = value[key] } catch { continue }
          if (/SESSIONS|TENANTS|BUCKET|SEALING_KEYS|LOADER|OPEN_ACCESS/.test(String(key) + (typeof next === "string" ? next : ""))) found.push(path + "." + String(key));
          look(next, path + "." + String(key));
        }
      };
      look(globalThis, "globalThis");
      return [seen.size > 500, found]`;
    expect(await outputOf(code)).toBe("[returned]\n[true,[]]");
  });

  it("shares nothing with the worker of another call", async () => {
    const code =
      "const before = globalThis.mark ?? Array.prototype.mark ?? 'none'; globalThis.mark = Array.prototype.mark = 1; return before";
    expect([await outputOf(code), await outputOf(code)]).toEqual([
      "[returned]\nnone",
      "[returned]\nnone",
    ]);
  });

  it.each([
    "Promise.race = () => 0; JSON.stringify = () => '{}'; globalThis.Response = null; Array.from = null; String = null; Error = null; return 1",
    "Date.now = () => 0; performance.now = () => 0; Math = null; for (;;);",
    "Object.prototype.toJSON = () => 1; return 1",
    "Promise.prototype.then = () => {}; return 1",
    "Object.defineProperty(Object.prototype, 'outcome', { get() { return 1 }, set() {} }); return 1",
    "Response.prototype.constructor = null; globalThis.console = null; return 1",
  ])("whose code replaces its globals has no effect on the next call: %s", async (code) => {
    const { text } = await run({ code, timeout_ms: 300 });
    expect(text).toMatch(
      /^\[returned\]|^The code left no readable result|^\[The code was stopped|^The code was stopped|^The runtime ended/,
    );
    expect(await outputOf("return [1].map(String)")).toBe('[returned]\n["1"]');
  });
});
