import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";

const SHOWN_WITHIN_MS = 30_000;

/**
 * Runs a shell command in a real terminal of this width, which has the output and can press keys.
 * Needs the command `script` of util-linux.
 */
export function startInTerminal(
  command: string,
  { columns, home }: { columns: number; home: string },
) {
  const { MASSGEN_EDGE_KEY: _key, MASSGEN_EDGE_SERVER: _server, ...env } = process.env;
  const script = `stty cols ${columns} rows 40; exec ${command}`;
  const child = spawn("script", ["-qfec", script, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...env, HOME: home, TERM: "xterm-256color" },
    cwd: home,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  /** What was printed, without colours and movements of the cursor. */
  const plainText = (): string => stripVTControlCharacters(output).replaceAll("\r\n", "\n");
  return {
    plainText,
    press: (keys: string) => void child.stdin.write(keys),
    waitFor: async (text: string): Promise<void> => {
      await expect
        .poll(() => plainText().includes(text), { timeout: SHOWN_WITHIN_MS, message: text })
        .toBe(true);
    },
    ended: once(child, "close"),
  };
}
