import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { converse, type ConverseOptions } from "../../../cli/conversation/interactive";
import * as b from "../../protocol/builders";
import { problem, Service, type ServiceOptions } from "../service";
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
class TerminalUser {
  readonly stdin = Object.assign(new PassThrough(), { isTTY: true });
  readonly screen = new PassThrough();
  screenText = "";
  stdout = "";
  readonly #interrupts = new Set<() => void>();
  readonly #exitCode: Promise<number>;

  constructor(server: string, options: Partial<ConverseOptions> = {}) {
    this.screen.on("data", (chunk) => {
      this.screenText += chunk;
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
    const connection = { server };
    this.#exitCode = converse({ team, connection, limits: {}, output, ...options }, io);
  }

  #print(text: string): void {
    this.stdout += text;
  }
  #show(text: string): void {
    this.screenText += text;
  }

  /** Waits until so many prompts were shown, then presses the keys. */
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

const startConversation = async (
  options: Partial<ServiceOptions> = {},
  own: Partial<ConverseOptions> = {},
) => {
  const service = await Service.start({ events, ...options });
  return {
    service,
    user: new TerminalUser(service.url, own),
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
    await using stage = await startConversation({ answers: { [turnsPath]: secondTurn } });
    const { user, service } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.typeAtPrompt("and then?\r", 2);
    await user.typeAtPrompt("/quit\r", 3);
    expect([await user.exitCode(), user.stdout]).toEqual([0, "Use quicksort.\nUse quicksort.\n"]);
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/api/runs", { question: "why?", config: "demo" }],
      [turnsPath, { question: "and then?" }],
    ]);
    expect(user.screenText).toContain("> \x1b[3Gand then?\r\n"); // each letter once
    expect(user.screenText).toContain(`npm run ask -- show ${b.SESSION} 1`);
  });

  it("treats pasted text, and lines that end in a backslash, as one question", async () => {
    await using stage = await startConversation({ answers: { [turnsPath]: secondTurn } });
    await stage.user.typeAtPrompt("one\r\ntwo\r\nthree", 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    stage.user.stdin.write("!\r");
    await stage.user.typeAtPrompt("a \\\r", 2);
    stage.user.stdin.write("b\r");
    await stage.user.typeAtPrompt("\x04", 3);
    await stage.user.exitCode();
    const questions = stage.service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(["one\ntwo\nthree!", "a \nb"]);
  });

  it.each(["history", "Resume", "push", "sesions"])(
    "does not send %s as a first question (A7)",
    async (word) => {
      await using stage = await startConversation();
      const { user, service } = stage;
      await user.typeAtPrompt(`${word}\r`, 1);
      await user.waitForText("To ask it as a question, put it in quotes.");
      expect(service.requests).toEqual([]);
      await user.typeAtPrompt(`"${word}"\r`, 2);
      await user.typeAtPrompt("/quit\r", 3);
      await user.exitCode();
      expect(questionsTo(service)).toHaveLength(1);
    },
  );

  it("sends the name of another tool's command as a question if there is a session", async () => {
    await using stage = await startConversation({ answers: { [turnsPath]: secondTurn } });
    await stage.user.typeAtPrompt("why?\r", 1);
    await stage.user.typeAtPrompt("continue\r", 2);
    await stage.user.typeAtPrompt("/quit\r", 3);
    await stage.user.exitCode();
    expect(questionsTo(stage.service)).toEqual(["why?", "continue"]);
  });

  it("continues after a refusal, an unknown command and an error", async () => {
    await using stage = await startConversation({
      answers: { "/api/runs": problem(429, { title: "Too many", code: "rate_limited" }) },
    });
    const { user } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.waitForText("Too many (429 rate_limited)");
    await user.typeAtPrompt("/hlep\r", 2);
    await user.waitForText("Unknown command /hlep");
    await user.typeAtPrompt("/show x\r", 3);
    await user.waitForText("No session yet");
    await user.typeAtPrompt("/config no/such.yaml\r", 4);
    await user.waitForText("there is no such file");
    await user.typeAtPrompt("\r", 5);
    await user.typeAtPrompt("/exit\r", 6);
    expect([await user.exitCode(), stage.service.requests.length]).toEqual([0, 1]);
  });

  /** Waits longer than the program waits for the rest of a paste. */
  const waitAfterPaste = () => new Promise((resolve) => setTimeout(resolve, 150));

  it.each([
    { name: "one line", pasted: "why is it so?\r", typed: "\r", question: "why is it so?" },
    {
      name: "several lines",
      pasted: "one\r\n\ttwo\r\r\rthree\r",
      typed: "\r",
      question: "one\n\ttwo\n\n\nthree",
    },
    {
      name: "several lines, one of them with a backslash at its end",
      pasted: "a \\\rb",
      typed: "!\r",
      question: "a \\\nb!",
    },
  ])("does not send a paste of $name before Enter (A8)", async ({ pasted, typed, question }) => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt(`\x1b[200~${pasted}\x1b[201~`, 1);
    await waitAfterPaste();
    expect(service.requests).toEqual([]);
    user.stdin.write(typed);
    await user.typeAtPrompt("/quit\r", 2);
    await user.exitCode();
    expect(questionsTo(service)).toEqual([question]);
  });

  it("inserts pasted text at the cursor (A8)", async () => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt("why  so?\x1b[D\x1b[D\x1b[D\x1b[D", 1);
    user.stdin.write("\x1b[200~is\rit\x1b[201~");
    user.stdin.write("\r");
    await user.typeAtPrompt("/quit\r", 2);
    await user.exitCode();
    expect(questionsTo(service)).toEqual(["why is\nit so?"]);
  });

  it("does not send several lines at once before Enter, if the terminal has no bracketed paste (A8)", async () => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt("one\rtwo\r", 1);
    await waitAfterPaste();
    expect(service.requests).toEqual([]);
    user.stdin.write("\r");
    await user.typeAtPrompt("/quit\r", 2);
    await user.exitCode();
    expect(questionsTo(service)).toEqual(["one\ntwo"]);
  });

  it("sends no pasted text after the terminal closed or after Ctrl+C (A8)", async () => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt("\x1b[200~one\rtwo\r\x1b[201~", 1);
    await waitAfterPaste();
    user.stdin.write("\x03");
    await user.waitForText("^C");
    user.stdin.write("\x1b[200~three\r\x1b[201~");
    await waitAfterPaste();
    user.stdin.end();
    expect([await user.exitCode(), service.requests]).toEqual([0, []]);
  });

  it("does not send the name of a command without its slash, but sends it in quotes (A7)", async () => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt("exit\r", 1);
    await user.waitForText("Did you mean /quit? To ask it as a question, put it in quotes.");
    await user.typeAtPrompt('"exit"\r', 2);
    await user.typeAtPrompt("/quit\r", 3);
    expect(await user.exitCode()).toBe(0);
    const questions = service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(['"exit"']);
  });

  it("ends at the second Ctrl+C on an empty line; on another line, Ctrl+C clears the line", async () => {
    await using stage = await startConversation();
    const { user } = stage;
    await user.typeAtPrompt("half a questi\x03", 1);
    await user.waitForText("^C");
    user.stdin.write("\x03");
    await user.waitForText("Press Ctrl+C again to leave");
    await user.typeAtPrompt("\x03", 2);
    expect([await user.exitCode(), stage.service.requests]).toEqual([0, []]);
  });

  it("ends when the terminal closes", async () => {
    await using stage = await startConversation();
    await stage.user.typeAtPrompt("", 1);
    stage.user.stdin.end();
    expect(await stage.user.exitCode()).toBe(0);
  });

  it("ends if the terminal closed while a question was answered", async () => {
    await using stage = await startConversation();
    await stage.user.typeAtPrompt("why?\r", 1);
    await stage.user.waitForText(() => stage.service.requests.length > 0);
    stage.user.stdin.end();
    expect([await stage.user.exitCode(), stage.user.stdout]).toEqual([0, "Use quicksort.\n"]);
  });

  it("starts a new session with another model, and names the model", async () => {
    await using stage = await startConversation();
    const { user, service } = stage;
    await user.typeAtPrompt("/model claude-sonnet-5-5\r", 1);
    await user.typeAtPrompt("/config\r", 2);
    await user.waitForText("team     claude-sonnet-5-5");
    await user.typeAtPrompt("why?\r", 3);
    await user.typeAtPrompt("/retry\r", 4);
    await user.typeAtPrompt("/quit\r", 5);
    await user.exitCode();
    const agents = [{ id: "agent", backend: { model: "claude-sonnet-5-5" } }];
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ path, body }) => [path, JSON.parse(body)])).toEqual(
      Array(2).fill(["/api/runs", { question: "why?", config: { agents } }]),
    );
  });

  it("repeats an earlier question with the arrow keys", async () => {
    await using stage = await startConversation({ answers: { [turnsPath]: secondTurn } });
    await stage.user.typeAtPrompt("first?\r", 1);
    await stage.user.typeAtPrompt("\x1b[A\r", 2);
    await stage.user.typeAtPrompt("/quit\r", 3);
    await stage.user.exitCode();
    const questions = stage.service.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => JSON.parse(body).question);
    expect(questions).toEqual(["first?", "first?"]);
  });
});

describe("a question that conflicts refuse", () => {
  const refusal = problem(409, {
    title: "Conflict",
    code: "context_conflicts",
    conflicts: [{ context: "site", path: "a.txt", turn: "a".repeat(64), upload: null }],
  });
  /** The bodies of the requests for next turns. */
  const turnsOf = (service: Service) =>
    service.requests
      .filter(({ method, path }) => method === "POST" && path === turnsPath)
      .map(({ body }) => JSON.parse(body));

  it("is asked again once by /conflicts with the side that wins", async () => {
    const answers: NonNullable<ServiceOptions["answers"]> = { [turnsPath]: refusal };
    await using stage = await startConversation({ answers });
    const { user, service } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.typeAtPrompt("/conflicts turn\r", 2);
    await user.waitForText("No question was refused because of conflicts.");
    await user.typeAtPrompt("and then?\r", 3);
    await user.waitForText("To keep the pushed files:  /conflicts upload\n");
    await user.waitForText("To decide file by file, in another terminal:\n");
    await user.typeAtPrompt("/conflicts mine\r", 4);
    await user.waitForText("Name the side that wins: /conflicts turn, or /conflicts upload");
    answers[turnsPath] = secondTurn;
    await user.typeAtPrompt("/conflicts upload\r", 5);
    await user.typeAtPrompt("more?\r", 6);
    await user.typeAtPrompt("/conflicts turn\r", 7);
    await user.typeAtPrompt("/quit\r", 8);
    await user.exitCode();
    expect(turnsOf(service)).toEqual([
      { question: "and then?" },
      { question: "and then?", context_conflicts: "upload" },
      { question: "more?" },
    ]);
  });

  it("is not lost: the next question still follows the turn before it, and /retry repeats it", async () => {
    const answers: NonNullable<ServiceOptions["answers"]> = { [turnsPath]: refusal };
    await using stage = await startConversation({ answers });
    const { user, service } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.typeAtPrompt("and then?\r", 2);
    await user.typeAtPrompt("other?\r", 3);
    await user.typeAtPrompt("/retry\r", 4);
    await user.typeAtPrompt("/quit\r", 5);
    await user.exitCode();
    expect(turnsOf(service)).toEqual([
      { question: "and then?" },
      { question: "other?" },
      { question: "other?", parent_turn: 1 },
    ]);
  });
});

describe("a conversation about shared folders", () => {
  it("sends the side of --conflicts with one question only, and prints the pull command after each turn", async () => {
    const facts = { turns: [{ turn: 1 }] };
    const turn = {
      ...{ session_id: b.SESSION, turn: 1, status: "completed", question: "why?" },
      ...{ answer: "so", winner: null, usage: { input_tokens: 0, output_tokens: 0 } },
    };
    await using stage = await startConversation(
      {
        answers: {
          [turnsPath]: secondTurn,
          [`/api/sessions/${b.SESSION}`]: { status: 200, body: facts },
          [`${turnsPath}/1`]: { status: 200, body: turn },
        },
      },
      {
        continuation: { session: b.SESSION, from: null },
        winner: "turn",
        folders: [
          { typed: "./site", name: "site", permission: "write" },
          { typed: "./docs", name: "docs", permission: "read" },
        ],
      },
    );
    const { user, service } = stage;
    await user.typeAtPrompt("one?\r", 1);
    await user.typeAtPrompt("two?\r", 2);
    await user.typeAtPrompt("/quit\r", 3);
    await user.exitCode();
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ body }) => JSON.parse(body))).toEqual([
      { question: "one?", context_conflicts: "turn" },
      { question: "two?" },
    ]);
    const pull = `pull    npm run ask -- pull ./site --session ${b.SESSION} --turn 1 --apply --server ${service.url}\n`;
    expect(user.screenText.split(pull)).toHaveLength(3);
    expect(user.screenText).not.toContain("pull ./docs");
  });
});
