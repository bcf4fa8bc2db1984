import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect } from "vitest";
import { converse, type ConverseOptions } from "../../../cli/conversation/interactive";
import * as b from "../../protocol/builders";
import { Service, type ServiceOptions } from "../service";
import { runLinks } from "../../../src/protocol/paths";

const events = b.log(b.story);
let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "talk-"));
});
afterEach(() => rm(home, { recursive: true }));

/** A prompt on its own line. Redrawn prompts do not match. */
const PROMPT = "\n\x1b[1G\x1b[0J> ";

/** A user at a terminal. `typeAtPrompt` waits for the prompt, then presses the keys. */
export class TerminalUser {
  readonly stdin = Object.assign(new PassThrough(), { isTTY: true });
  readonly screen = new PassThrough();
  screenText = "";
  stdout = "";
  readonly #interrupts = new Set<() => void>();
  readonly #exitCode: Promise<number>;

  constructor(server: string, options: Partial<ConverseOptions> = {}, term = "dumb") {
    this.screen.on("data", (chunk) => {
      this.screenText += chunk;
    });
    const io = {
      stdin: this.stdin,
      stdout: { write: (text: string) => this.#print(text) },
      stderr: { isTTY: true, write: (text: string) => this.#show(text) },
      screen: this.screen,
      env: { NO_COLOR: "1", TERM: term },
      cwd: home,
      home,
      onInterrupt: (listener: () => void) => {
        this.#interrupts.add(listener);
        return () => this.#interrupts.delete(listener);
      },
    };
    const team = {
      request: { config: "demo" },
      source: { name: "demo", text: null },
      description: "demo",
    };
    const output = { form: "answer", file: null, verbose: false } as const;
    const connection = { server };
    this.#exitCode = converse({ team, connection, limits: {}, output, ...options }, io);
  }

  #print(text: string): void {
    this.stdout += text;
  }
  #show(text: string): void {
    this.screenText += text;
  }

  /** Waits for this number of prompts, then presses the keys. */
  async typeAtPrompt(keys: string, prompts: number): Promise<void> {
    await this.waitForText(() => this.screenText.split(PROMPT).length > prompts);
    this.stdin.write(keys);
  }
  /** Waits until the screen contains the text, or until the condition is true. */
  async waitForText(expected: string | (() => boolean)): Promise<void> {
    const isShown =
      typeof expected === "string" ? () => this.screenText.includes(expected) : expected;
    await expect.poll(isShown, { timeout: 10_000, message: `${expected}` }).toBe(true);
  }
  exitCode(): Promise<number> {
    return this.#exitCode;
  }
}

export const startConversation = async (
  options: Partial<ServiceOptions> = {},
  own: Partial<ConverseOptions> = {},
  term?: string,
) => {
  const service = await Service.start({ events, ...options });
  return {
    service,
    user: new TerminalUser(service.url, own, term),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
};
export const turnsPath = `/api/sessions/${b.SESSION}/turns`;
export const secondTurn = {
  status: 202,
  body: { session_id: b.SESSION, turn: 1, status: "running", links: runLinks(b.SESSION, 1) },
};
