import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { converse } from "../../../cli/conversation/interactive";
import * as b from "../../protocol/builders";
import { problem, Service, type ServiceOptions } from "../service";
import { runLinks } from "../../../src/protocol/paths";

const events = b.log(b.story);
let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "talk-"));
});
afterEach(() => rm(home, { recursive: true }));

/** A prompt on its own line; redrawn prompts do not count. */
const PROMPT = "\n\x1b[1G\x1b[0J> ";

/** A user at a terminal. `types` waits for the prompt, then presses the keys. */
class TerminalUser {
  readonly stdin = Object.assign(new PassThrough(), { isTTY: true });
  readonly screen = new PassThrough();
  seen = "";
  stdout = "";
  readonly #interrupts = new Set<() => void>();
  readonly #ended: Promise<number>;

  constructor(server: string) {
    this.screen.on("data", (chunk) => {
      this.seen += chunk;
    });
    const io = {
      stdin: this.stdin,
      stdout: { write: (text: string) => this.#print(text) },
      stderr: { isTTY: true, write: (text: string) => this.#show(text) },
      screen: this.screen,
      env: { NO_COLOR: "1", TERM: "dumb" },
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
    this.#ended = converse({ team, connection: { server }, limits: {}, output }, io);
  }

  #print(text: string): void {
    this.stdout += text;
  }
  #show(text: string): void {
    this.seen += text;
  }

  /** Waits for a prompt, then presses the keys. */
  async types(keys: string, prompts: number): Promise<void> {
    await this.sees(() => this.seen.split(PROMPT).length > prompts);
    this.stdin.write(keys);
  }
  async sees(what: string | (() => boolean)): Promise<void> {
    const there = typeof what === "string" ? () => this.seen.includes(what) : what;
    await expect.poll(there, { timeout: 10_000, message: `${what}` }).toBe(true);
  }
  ended(): Promise<number> {
    return this.#ended;
  }
}

const talk = async (options: Partial<ServiceOptions> = {}) => {
  const service = await Service.start({ events, ...options });
  return {
    service,
    user: new TerminalUser(service.url),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
};
const turnsPath = `/api/sessions/${b.SESSION}/turns`;
const secondTurn = {
  status: 202,
  body: { session_id: b.SESSION, turn: 1, status: "running", links: runLinks(b.SESSION, 1) },
};

const questionsTo = (service: Service) =>
  service.requests
    .filter(({ method }) => method === "POST")
    .map(({ body }) => JSON.parse(body).question);

describe("a conversation at a terminal", () => {
  it("asks each entry as the next turn of one session", async () => {
    await using stage = await talk({ answers: { [turnsPath]: secondTurn } });
    const { user, service } = stage;
    await user.types("why?\r", 1);
    await user.types("and then?\r", 2);
    await user.types("/quit\r", 3);
    expect([await user.ended(), user.stdout]).toEqual([0, "Use quicksort.\nUse quicksort.\n"]);
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/api/runs", { question: "why?", config: "demo" }],
      [turnsPath, { question: "and then?" }],
    ]);
    expect(user.seen).toContain("> \x1b[3Gand then?\r\n"); // each letter once
    expect(user.seen).toContain(`npm run ask -- show ${b.SESSION} 1`);
  });

  it("treats pasted text, and lines that end in a backslash, as one question", async () => {
    await using stage = await talk({ answers: { [turnsPath]: secondTurn } });
    await stage.user.types("one\r\ntwo\r\nthree", 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    stage.user.stdin.write("!\r");
    await stage.user.types("a \\\r", 2);
    stage.user.stdin.write("b\r");
    await stage.user.types("\x04", 3);
    await stage.user.ended();
    const questions = stage.service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(["one\ntwo\nthree!", "a \nb"]);
  });

  it.each(["history", "Resume", "push", "sesions"])(
    "does not send %s as a first question (A7)",
    async (word) => {
      await using stage = await talk();
      const { user, service } = stage;
      await user.types(`${word}\r`, 1);
      await user.sees("To ask it as a question, put it in quotes.");
      expect(service.requests).toEqual([]);
      await user.types(`"${word}"\r`, 2);
      await user.types("/quit\r", 3);
      await user.ended();
      expect(questionsTo(service)).toHaveLength(1);
    },
  );

  it("sends a command name of another tool as a question once there is a session", async () => {
    await using stage = await talk({ answers: { [turnsPath]: secondTurn } });
    await stage.user.types("why?\r", 1);
    await stage.user.types("continue\r", 2);
    await stage.user.types("/quit\r", 3);
    await stage.user.ended();
    expect(questionsTo(stage.service)).toEqual(["why?", "continue"]);
  });

  it("continues after a refusal, an unknown command and an error", async () => {
    await using stage = await talk({
      answers: { "/api/runs": problem(429, { title: "Too many", code: "rate_limited" }) },
    });
    const { user } = stage;
    await user.types("why?\r", 1);
    await user.sees("Too many (429 rate_limited)");
    await user.types("/hlep\r", 2);
    await user.sees("Unknown command /hlep");
    await user.types("/show x\r", 3);
    await user.sees("No session yet");
    await user.types("/config no/such.yaml\r", 4);
    await user.sees("there is no such file");
    await user.types("\r", 5);
    await user.types("/exit\r", 6);
    expect([await user.ended(), stage.service.requests.length]).toEqual([0, 1]);
  });

  const pause = () => new Promise((resolve) => setTimeout(resolve, 150));

  it.each([
    { name: "a line", pasted: "why is it so?\r", typed: "\r", question: "why is it so?" },
    {
      name: "several lines",
      pasted: "one\r\n\ttwo\r\r\rthree\r",
      typed: "\r",
      question: "one\n\ttwo\n\n\nthree",
    },
    {
      name: "lines, one with a backslash at its end",
      pasted: "a \\\rb",
      typed: "!\r",
      question: "a \\\nb!",
    },
  ])(
    "waits for Enter after a paste of $name that ends in a line feed (A8)",
    async ({ pasted, typed, question }) => {
      await using stage = await talk();
      const { user, service } = stage;
      await user.types(`\x1b[200~${pasted}\x1b[201~`, 1);
      await pause();
      expect(service.requests).toEqual([]);
      user.stdin.write(typed);
      await user.types("/quit\r", 2);
      await user.ended();
      expect(questionsTo(service)).toEqual([question]);
    },
  );

  it("inserts pasted text at the cursor (A8)", async () => {
    await using stage = await talk();
    const { user, service } = stage;
    await user.types("why  so?\x1b[D\x1b[D\x1b[D\x1b[D", 1);
    user.stdin.write("\x1b[200~is\rit\x1b[201~");
    user.stdin.write("\r");
    await user.types("/quit\r", 2);
    await user.ended();
    expect(questionsTo(service)).toEqual(["why is\nit so?"]);
  });

  it("waits for Enter after several lines at once from a terminal without bracketed paste (A8)", async () => {
    await using stage = await talk();
    const { user, service } = stage;
    await user.types("one\rtwo\r", 1);
    await pause();
    expect(service.requests).toEqual([]);
    user.stdin.write("\r");
    await user.types("/quit\r", 2);
    await user.ended();
    expect(questionsTo(service)).toEqual(["one\ntwo"]);
  });

  it("sends no pasted text after the terminal closed or after Ctrl+C (A8)", async () => {
    await using stage = await talk();
    const { user, service } = stage;
    await user.types("\x1b[200~one\rtwo\r\x1b[201~", 1);
    await pause();
    user.stdin.write("\x03");
    await user.sees("^C");
    user.stdin.write("\x1b[200~three\r\x1b[201~");
    await pause();
    user.stdin.end();
    expect([await user.ended(), service.requests]).toEqual([0, []]);
  });

  it("does not send the bare name of a command, and sends it in quotes as a question (A7)", async () => {
    await using stage = await talk();
    const { user, service } = stage;
    await user.types("exit\r", 1);
    await user.sees("Did you mean /quit? To ask it as a question, put it in quotes.");
    await user.types('"exit"\r', 2);
    await user.types("/quit\r", 3);
    expect(await user.ended()).toBe(0);
    const questions = service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(['"exit"']);
  });

  it("ends at the second Ctrl+C on an empty line; on another line, Ctrl+C clears the line", async () => {
    await using stage = await talk();
    const { user } = stage;
    await user.types("half a questi\x03", 1);
    await user.sees("^C");
    user.stdin.write("\x03");
    await user.sees("Press Ctrl+C again to leave");
    await user.types("\x03", 2);
    expect([await user.ended(), stage.service.requests]).toEqual([0, []]);
  });

  it("ends when the terminal closes", async () => {
    await using stage = await talk();
    await stage.user.types("", 1);
    stage.user.stdin.end();
    expect(await stage.user.ended()).toBe(0);
  });

  it("ends if the terminal closed while a question was answered", async () => {
    await using stage = await talk();
    await stage.user.types("why?\r", 1);
    await stage.user.sees(() => stage.service.requests.length > 0);
    stage.user.stdin.end();
    expect([await stage.user.ended(), stage.user.stdout]).toEqual([0, "Use quicksort.\n"]);
  });

  it("starts a new session with another model, and names the model", async () => {
    await using stage = await talk();
    const { user, service } = stage;
    await user.types("/model claude-sonnet-5-5\r", 1);
    await user.types("/config\r", 2);
    await user.sees("team     claude-sonnet-5-5");
    await user.types("why?\r", 3);
    await user.types("/retry\r", 4);
    await user.types("/quit\r", 5);
    await user.ended();
    const agents = [{ id: "agent", backend: { model: "claude-sonnet-5-5" } }];
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ path, body }) => [path, JSON.parse(body)])).toEqual(
      Array(2).fill(["/api/runs", { question: "why?", config: { agents } }]),
    );
  });

  it("keeps typed questions for the arrow keys", async () => {
    await using stage = await talk({ answers: { [turnsPath]: secondTurn } });
    await stage.user.types("first?\r", 1);
    await stage.user.types("\x1b[A\r", 2);
    await stage.user.types("/quit\r", 3);
    await stage.user.ended();
    const questions = stage.service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(["first?", "first?"]);
  });
});
