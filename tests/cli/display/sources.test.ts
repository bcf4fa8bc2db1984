import { describe, expect, it } from "vitest";
import { eventLine, turnLines } from "../../../cli/display/turn-lines";
import { report } from "../../../cli/display/report";
import { paint } from "../../../cli/terminal/output";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";

const base = [b.created("anna"), b.turnStarted("anna"), b.attemptStarted()];
function turnAfter(...bodies: b.Body[]) {
  const turn = turnOf(b.view(b.log([...base, ...bodies])));
  if (!turn) throw new Error("no turn");
  return turn;
}

describe("a use of a hosted tool", () => {
  it.each([
    { use: { input: "passes in\nthe hills" }, line: "anna searched the web: passes in the hills" },
    { use: { input: "\x1b[2J  " }, line: "anna searched the web:" },
    { use: { input: "q", outcome: "error" }, line: "anna could not search the web: q" },
    { use: { name: "x_search", input: "q" }, line: "anna searched posts: q" },
    {
      use: { name: "code_execution", input: "print(1)\nprint(2)" },
      line: "anna ran code: print(1) print(2)",
    },
    { use: { input: "x".repeat(500) }, line: `anna searched the web: ${"x".repeat(199)}…` },
  ] as const)("is shown as $line", ({ use, line }) => {
    const event = b.log([...base, b.hostedUse("anna", "c1", use)]).at(-1);
    const segments = event && eventLine(event, turnAfter());
    expect(segments && paint(segments, { width: 300, color: false })).toBe(`00:00  ${line}`);
  });

  it.each([
    { name: "web_search", text: "passes in", expected: /searches the web: passes in$/ },
    { name: "code_execution", text: "", expected: /runs code$/ },
    { name: "from_the_future", text: "x", expected: /uses a tool of its provider: x$/ },
  ])(
    "is in the live display while the model writes a call of $name",
    ({ name, text, expected }) => {
      const item = {
        agent: "anna",
        round: 1,
        call: "c1",
        kind: "hosted_tool",
        name,
        offset: 0,
        text,
      } as const;
      const turn = turnAfter(b.callStarted("anna", "c1"), { type: "stream.delta", items: [item] });
      const lines = turnLines(turn, { width: 200, height: 9, now: b.START });
      expect(lines.map((line) => paint(line, { width: 200, color: false }))[1]).toMatch(expected);
    },
  );
});

describe("the sources of the final answer", () => {
  const presented = (...urls: string[]) =>
    turnAfter(
      b.settled("anna", "agent1.1"),
      b.presenting("anna", "agent1.1"),
      b.callStarted("anna", "p1", 3, "presentation"),
      b.cited("anna", "p1", ...urls),
      b.presented("anna", "Use quicksort."),
      b.completed("anna", "Use quicksort."),
    );

  function printed(turn: ReturnType<typeof turnAfter>, { jsonStream = false, isTTY = false } = {}) {
    const [out, err]: [string[], string[]] = [[], []];
    const outputTo = (texts: string[]) => ({
      isTTY,
      write: (text: string) => void texts.push(text),
    });
    const io = { stdout: outputTo(out), stderr: outputTo(err), env: { NO_COLOR: "1" } };
    const context = { server: "http://127.0.0.1:8787" };
    report(turn, { sessionId: b.SESSION }, { options: { context, jsonStream }, io });
    return { out: out.join(""), err: err.join("") };
  }

  it("are printed on stderr, and the answer itself on stdout", () => {
    const { out, err } = printed(presented("https://a.example/", "https://b.example/\x1b[31m"));
    expect(out).toBe("Use quicksort.\n");
    expect(err.split("\n").slice(0, 4)).toEqual([
      "Sources",
      "  1. About https://a.example/  https://a.example/",
      "  2. About https://b.example/  https://b.example/",
      expect.stringMatching(/^winner/),
    ]);
  });

  it("are printed as a short list, with the number of further sources", () => {
    const { err } = printed(
      presented(...Array.from({ length: 13 }, (_, index) => `https://${index}.example/`)),
    );
    expect(err.split("\n").slice(9, 12)).toEqual([
      "  9. About https://8.example/  https://8.example/",
      " 10. About https://9.example/  https://9.example/",
      "    and 3 more",
    ]);
  });

  it.each([
    { name: "if there are none", turn: presented(), options: {} },
    {
      name: "if the answer is not printed",
      turn: presented("https://a.example/"),
      options: { jsonStream: true },
    },
    { name: "if there is no final answer", turn: turnAfter(b.cancelled("x")), options: {} },
  ])("are not printed $name", ({ turn, options }) => {
    expect(printed(turn, options).err).not.toContain("Sources");
  });
});
