import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { Service } from "../service";

/**
 * Only the `script` command of util-linux has the options used here. It runs a command in a
 * terminal.
 */
const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

/** Starts the program in a real terminal, which has the output and can press keys. */
function startInTerminal(server: string) {
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
    output: "",
    press: (keys: string) => void child.stdin.write(keys),
    ended: once(child, "close"),
  };
  child.stdout.on("data", (chunk) => {
    terminal.output += chunk;
  });
  return terminal;
}

it.skipIf(!hasScript)(
  "in a real terminal, a pasted text that ends in a line feed is not sent before Enter (A8)",
  async () => {
    await using service = await Service.start({ events: b.log(b.story) });
    const terminal = startInTerminal(service.url);
    const waitFor = (text: string, times = 1) =>
      expect
        .poll(() => terminal.output.split(text).length, { timeout: 30_000, message: text })
        .toBeGreaterThan(times);
    const askedQuestions = () =>
      service.requests
        .filter(({ method }) => method === "POST")
        .map(({ body }) => JSON.parse(body).question);

    await waitFor("\x1b[?2004h"); // the program asks the terminal to mark pasted text
    terminal.press("\x1b[200~first line\rsecond line\r\x1b[201~");
    await waitFor("second line");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(askedQuestions()).toEqual([]);
    terminal.press("\r");
    await waitFor("Use quicksort.");
    expect(askedQuestions()).toEqual(["first line\nsecond line"]);
    await waitFor("run     "); // the summary's last line, before the next prompt
    terminal.press("/quit\r");
    expect(await terminal.ended).toEqual([0, null]);
    // Pasted text is marked until the program ends, even during a turn: text pasted then is read at
    // the next prompt.
    expect(terminal.output.match(/\[\?2004[hl]/g)).toEqual(["[?2004h", "[?2004l"]);
  },
);
