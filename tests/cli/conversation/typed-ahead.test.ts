import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { TypingScreen } from "../../../cli/asking/typing";
import { type SubmitEntry, TypedAhead } from "../../../cli/conversation/typed-ahead";
import { CliError, EXIT } from "../../../cli/exit-codes";
import { type Line, paint } from "../../../cli/terminal/output";

/** A running turn with a user who types. */
function running(submit: SubmitEntry) {
  const modes: boolean[] = [];
  const setRawMode = (mode: boolean) => modes.push(mode);
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  const typed = new TypedAhead({ input, submit });
  const notices: string[] = [];
  let interrupts = 0;
  let lines: (width: number) => Line[] = () => [];
  const screen: TypingScreen = {
    session: "session_a",
    showBelow: (shown) => {
      lines = shown;
    },
    redraw: () => undefined,
    notice: (text) => notices.push(text),
    onInterrupt: () => {
      interrupts += 1;
    },
  };
  const stop = typed.begin(screen);
  const shown = () => lines(60).map((line) => paint(line, { width: 60, color: false }));
  const type = async (keys: string) => {
    input.write(keys);
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return { typed, notices, modes, stop, shown, type, interrupts: () => interrupts };
}

describe("what the user types while a turn runs", () => {
  it("is sent at Enter, and shown until the service has it", async () => {
    const sent: string[] = [];
    const accepted = Promise.withResolvers<null>();
    const { type, shown, typed } = running((text, session) => {
      sent.push(`${session} ${text}`);
      return accepted.promise;
    });
    await type("And for strings?");
    expect(shown()).toEqual(["> And for strings?▏"]);
    await type("\r");
    expect(shown()).toEqual(["sending    And for strings?", "> ▏"]);
    accepted.resolve(null);
    await typed.settled();
    expect([sent, shown()]).toEqual([["session_a And for strings?"], ["> ▏"]]);
  });

  it("is shown with the queue of the session", () => {
    const { typed, shown } = running(async () => null);
    const data = ["One?", "Two?", "Three?", "Four?"].map((question_preview, nth) => ({
      ...{ id: `q${nth}`, position: nth + 1, question_preview, interrupts: false },
    }));
    typed.onQueue({ data, held: { code: "cancelled", message: "A turn was cancelled." } });
    expect(shown()).toEqual([
      ...["queued  1  One?", "queued  2  Two?", "         and 2 more"],
      ...["held     A turn was cancelled.", "> ▏"],
    ]);
  });

  it("is in the next prompt if it was not sent", async () => {
    const { type, stop, typed, modes } = running(async () => null);
    await type("half a quest");
    stop();
    expect([await typed.takeText(), await typed.takeText(), modes]).toEqual([
      ...["half a quest", "", [true, false]],
    ]);
  });

  it("stays an entry of its own if the service refused it, also beside text that was not sent", async () => {
    const { type, typed } = running(async () => {
      throw new CliError(EXIT.busy, "The queue is full.");
    });
    for (const keys of ["/interrupt Stop that\r", "Why?\r", "half a question"]) await type(keys);
    expect([await typed.takeText(), await typed.takeText(), await typed.takeText()]).toEqual([
      ...["/interrupt Stop that", "Why?", "half a question"],
    ]);
    expect(await typed.takeText()).toBe("");
  });

  it("is not shown with the queue of the turn before", async () => {
    const { typed, shown, stop } = running(async () => null);
    const waiting = { id: "q", position: 1, question_preview: "One?", interrupts: false };
    typed.onQueue({ data: [waiting], held: null });
    expect(shown().join("\n")).toContain("One?");
    stop();
    const screen: TypingScreen = {
      ...{ session: "session_a", showBelow: (lines) => (below = lines(60)) },
      ...{ redraw: () => undefined, notice: () => undefined, onInterrupt: () => undefined },
    };
    let below: Line[] = [];
    typed.begin(screen)();
    expect(below.map((line) => paint(line, { width: 60, color: false })).join("\n")).not.toContain(
      "One?",
    );
  });

  it("is in the next prompt if the service refused it, and the reason is shown", async () => {
    const { type, typed, notices } = running(async () => {
      throw new CliError(EXIT.busy, "The queue is full.");
    });
    await type("one\r");
    await type("two\r");
    await type("thr");
    const texts = [await typed.takeText(), await typed.takeText(), await typed.takeText()];
    expect([texts, notices]).toEqual([
      ...[
        ["one", "two", "thr"],
        ["The queue is full.", "The queue is full."],
      ],
    ]);
  });

  it("waits in order if it is a command, with the questions after it, and is shown", async () => {
    const sent: string[] = [];
    const { type, typed, notices, shown } = running(async (text) => {
      sent.push(text);
      return null;
    });
    for (const text of ["one?", "/config b.yaml", "two?", "/turns"]) await type(`${text}\r`);
    expect([sent, shown()]).toEqual([
      ["one?"],
      ["then       /config b.yaml", "then       two?", "then       /turns", "> ▏"],
    ]);
    expect(notices).toEqual([
      "/config b.yaml runs when the turns have ended.",
      "two? is asked when the turns have ended.",
      "/turns runs when the turns have ended.",
    ]);
    await type("/undo\r");
    expect(shown().slice(-2)).toEqual(["           and 2 more", "> ▏"]);
    const taken = [await typed.takeEntry(), await typed.takeEntry(), await typed.takeEntry()];
    expect(taken).toEqual(["/config b.yaml", "two?", "/turns"]);
  });

  it("is in the next prompt if it is a question after a command that failed", async () => {
    const { type, typed } = running(async () => null);
    for (const text of ["/config b.yaml", "one?", "/turns", "two?"]) await type(`${text}\r`);
    expect(await typed.takeEntry()).toBe("/config b.yaml");
    typed.returnQuestions();
    expect([await typed.takeEntry(), await typed.takeEntry()]).toEqual(["/turns", null]);
    expect([await typed.takeText(), await typed.takeText()]).toEqual(["one?", "two?"]);
  });

  it("may be Ctrl+C, which interrupts only on an empty line", async () => {
    const { type, interrupts, shown } = running(async () => null);
    await type("half\x03");
    expect([interrupts(), shown()]).toEqual([0, ["> ▏"]]);
    await type("\x03");
    expect(interrupts()).toBe(1);
  });

  it("is no longer read after the turn", async () => {
    const { type, stop, typed } = running(async () => null);
    stop();
    await type("late");
    expect(await typed.takeText()).toBe("");
  });
});
