import { describe, expect, it } from "vitest";
import { toReply } from "../../../src/agents/reply";
import type { Wire } from "../wire";
import { readReply, problemsOf } from "./read-reply";

/**
 * Invalid arguments of tool calls, as models sometimes write them. They must be refused or read,
 * and they must not block later calls. `decides`: whether the calls submit an answer.
 */
type Row = { name: string; calls: { id: string; name: string; text: string }[]; decides: boolean };

const answerCall = (text: string, id = "id_a") => ({ id, name: "new_answer", text });

const ROWS: readonly Row[] = [
  { name: "truncated", calls: [answerCall('{"content":"Water bo')], decides: false },
  { name: "empty", calls: [answerCall("")], decides: false },
  { name: "null", calls: [answerCall("null")], decides: false },
  { name: "an array", calls: [answerCall('["Water"]')], decides: false },
  { name: "a key twice", calls: [answerCall('{"content":"one","content":"two"}')], decides: true },
  { name: "__proto__", calls: [answerCall('{"__proto__":{"content":"x"}}')], decides: false },
  {
    name: "a string of 1 MB",
    calls: [answerCall(JSON.stringify({ content: "x".repeat(1_000_000) }))],
    decides: false,
  },
  {
    name: "of an unknown tool",
    calls: [{ id: "id_a", name: "launch_missiles", text: "{}" }],
    decides: false,
  },
  {
    name: "two calls with the same id",
    calls: [answerCall('{"content":"one"}'), { ...answerCall("{}"), name: "vote" }],
    decides: true,
  },
];

/** Stands in for the arguments of a row while the frames are encoded. */
const PLACEHOLDER = "the-arguments-in-question";

export function describeBrokenArguments(wire: Wire): void {
  describe(`${wire.name}, tool arguments`, () => {
    it.for(ROWS)(
      "that are invalid ($name) are refused or read, and the next call works",
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
            : reply.decisions.some(({ name: decision }) => decision === "invalid")
              ? "refused"
              : "read";
        task.meta.faults = [{ fault: `tool JSON: ${name}`, format: wire.name, outcome, count: 1 }];
      },
    );
  });
}

/**
 * The frames of these calls. In the encoded frames, the placeholders are replaced by the invalid
 * arguments, as text or as JSON, depending on the format.
 */
function framesOf(wire: Wire, calls: Row["calls"]): string {
  const placeholderCalls = calls.map(({ id, name }, n) => ({
    id,
    name,
    pieces: [JSON.stringify({ mark: `${PLACEHOLDER}-${n}` })],
  }));
  const frames = wire.encode({ calls: placeholderCalls, stop: "tool_calls" }).join("");
  return calls.reduce((text, call, n) => {
    const args = JSON.stringify({ mark: `${PLACEHOLDER}-${n}` });
    const inText = JSON.stringify(args).slice(1, -1);
    return text
      .replaceAll(inText, JSON.stringify(call.text).slice(1, -1))
      .replaceAll(args, call.text === "" ? "{}" : call.text);
  }, frames);
}
