import { describe, expect, it } from "vitest";
import { toReply } from "../../../src/agents/reply";
import type { Wire } from "../wire";
import { readReply, problemsOf } from "./read-reply";

/**
 * Arguments of calls as broken models write them. Each must be refused or read, and must not block
 * later calls.
 */
type Row = { name: string; calls: { id: string; name: string; text: string }[]; decides: boolean };

const answering = (text: string, id = "id_a") => ({ id, name: "new_answer", text });

const ROWS: readonly Row[] = [
  { name: "truncated", calls: [answering('{"content":"Water bo')], decides: false },
  { name: "empty", calls: [answering("")], decides: false },
  { name: "null", calls: [answering("null")], decides: false },
  { name: "an array", calls: [answering('["Water"]')], decides: false },
  { name: "a key twice", calls: [answering('{"content":"one","content":"two"}')], decides: true },
  { name: "__proto__", calls: [answering('{"__proto__":{"content":"x"}}')], decides: false },
  {
    name: "a string of 1 MB",
    calls: [answering(JSON.stringify({ content: "x".repeat(1_000_000) }))],
    decides: false,
  },
  {
    name: "of an unknown tool",
    calls: [{ id: "id_a", name: "launch_missiles", text: "{}" }],
    decides: false,
  },
  {
    name: "two calls with the same id",
    calls: [answering('{"content":"one"}'), { ...answering("{}"), name: "vote" }],
    decides: true,
  },
];

/** A placeholder for the row's text in the frames; no model writes it. */
const MARK = "the-arguments-in-question";

export function describeBrokenArguments(wire: Wire): void {
  describe(`${wire.name}, arguments that are`, () => {
    it.for(ROWS)(
      "$name end in a refusal or in an answer, and the next call works",
      async ({ name, calls, decides }, { task }) => {
        const chunks = [Buffer.from(framesOf(wire, calls))];
        const reading = await readReply(wire, { chunks, ending: "end" });
        expect(await problemsOf(wire, reading)).toEqual([]);
        const stop = reading.events.at(-1);
        const items = stop?.type === "stop" ? stop.items : [];
        const reply = toReply(
          { items, text: "", stopReason: "tool_calls", usage: null },
          { purpose: "coordination", ownTools: ["read_file"] },
        );
        expect(reply.decisions.some((decision) => decision.name === "new_answer")).toBe(
          decides && reading.error === undefined,
        );
        const ids = items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []));
        expect(new Set(ids).size).toBe(ids.length);
        expect(Object.hasOwn(Object.prototype, "content")).toBe(false);
        const outcome =
          reading.error !== undefined
            ? "failed"
            : reply.decisions.some(({ name: one }) => one === "invalid")
              ? "refused"
              : "read";
        task.meta.faults = [{ fault: `tool JSON: ${name}`, format: wire.name, outcome, count: 1 }];
      },
    );
  });
}

/** The recorded frames of such calls, with the arguments as text or as JSON, by the format. */
function framesOf(wire: Wire, calls: Row["calls"]): string {
  const marked = calls.map(({ id, name }, n) => ({
    id,
    name,
    pieces: [JSON.stringify({ mark: `${MARK}-${n}` })],
  }));
  const frames = wire.encode({ calls: marked, stop: "tool_calls" }).join("");
  return calls.reduce((text, call, n) => {
    const args = JSON.stringify({ mark: `${MARK}-${n}` });
    const inText = JSON.stringify(args).slice(1, -1);
    return text
      .replaceAll(inText, JSON.stringify(call.text).slice(1, -1))
      .replaceAll(args, call.text === "" ? "{}" : call.text);
  }, frames);
}
