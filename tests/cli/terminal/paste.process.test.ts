import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { Service } from "../service";

/**
 * `script` of util-linux runs a command under its own terminal. On other systems it has other
 * options.
 */
const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

/** The program under a real terminal, with its output and pressed keys. */
function atTerminal(server: string) {
  const program = [
    process.execPath,
    path.resolve("scripts/run.mjs"),
    path.resolve("cli/main.ts"),
    "--server",
    server,
  ];
  const { MASSGEN_EDGE_KEY: _, ...env } = process.env;
  const child = spawn("script", ["-qfec", program.join(" "), "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...env, HOME: tmpdir(), TERM: "xterm-256color" },
    cwd: tmpdir(),
  });
  const terminal = {
    seen: "",
    press: (keys: string) => void child.stdin.write(keys),
    ended: once(child, "close"),
  };
  child.stdout.on("data", (chunk) => {
    terminal.seen += chunk;
  });
  return terminal;
}

it.skipIf(!hasScript)(
  "under a real terminal a paste that ends in a line feed waits for Enter (A8)",
  async () => {
    await using service = await Service.start({ events: b.log(b.story) });
    const terminal = atTerminal(service.url);
    const sees = (text: string, times = 1) =>
      expect
        .poll(() => terminal.seen.split(text).length, { timeout: 30_000, message: text })
        .toBeGreaterThan(times);
    const posts = () =>
      service.requests
        .filter(({ method }) => method === "POST")
        .map(({ body }) => JSON.parse(body).question);

    await sees("\x1b[?2004h"); // the program asks the terminal to mark what is pasted
    terminal.press("\x1b[200~first line\rsecond line\r\x1b[201~");
    await sees("second line");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(posts()).toEqual([]);
    terminal.press("\r");
    await sees("Use quicksort.");
    expect(posts()).toEqual(["first line\nsecond line"]);
    await sees("run     "); // the summary's last line: the next prompt follows
    terminal.press("/quit\r");
    expect(await terminal.ended).toEqual([0, null]);
    // Until the program ends, also during a turn: text pasted meanwhile is read at the next prompt.
    expect(terminal.seen.match(/\[\?2004[hl]/g)).toEqual(["[?2004h", "[?2004l"]);
  },
);
