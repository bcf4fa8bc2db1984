import { describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { problem, type Service } from "../service";
import { secondTurn, startConversation, turnsPath } from "./terminal-user";

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
      [turnsPath, { question: "and then?", on_busy: "queue" }],
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

  it("starts its session with another model, and names the model", async () => {
    const checked = { status: 200, body: { runnable: true } };
    await using stage = await startConversation({
      answers: { "/api/configs/validate": checked },
    });
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
    expect(posts.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/api/configs/validate", { config: { agents } }],
      ["/api/runs", { question: "why?", config: { agents } }],
      [turnsPath, { repeat_turn: 1, on_busy: "queue" }],
    ]);
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
