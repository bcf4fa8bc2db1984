import { expect, it } from "vitest";
import type { Citation, HostedToolName, HostedUse } from "../../src/protocol/hosted-tools";
import type { HostedTool, ModelEvent } from "../../src/providers/provider";
import { type Call, FULL, type Outcome, textIn } from "./contract-support";
import { events } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

const SAMPLES: Readonly<Record<HostedToolName, HostedUse>> = {
  web_search: { name: "web_search", input: "weather in Bern", outcome: "ok", output: "" },
  x_search: { name: "x_search", input: "posts on Bern", outcome: "ok", output: "" },
  code_execution: {
    name: "code_execution",
    input: "print(6 * 7)",
    outcome: "ok",
    output: "42-from-the-machine",
  },
};
const CITATION: Citation = { url: "https://weather.example/bern", title: "Weather in Bern" };

/**
 * A reply with one use of each hosted tool of the format and with calls of our own tools. It has
 * citations if one of the tools searches.
 */
export function hostedReply(wire: Wire): Reply & { hosted: HostedUse[] } {
  const hosted = wire.hostedTools.map((name) => SAMPLES[name]);
  const cited = wire.hostedTools.some((name) => name !== "code_execution");
  return { ...FULL, hosted, ...(cited && { citations: [CITATION] }) };
}

/** The hosted tools of the format, in the form in which a request offers them. */
export const offered = (wire: Wire): HostedTool[] =>
  wire.hostedTools.map((name) => ({ name, maxUses: 3 }));

/**
 * Tools that the provider runs. Their uses are reported next to the answer and never in its text.
 * They have no effect on calls of our own tools.
 */
export function hostedContract(wire: Wire, call: Call): void {
  const reply = hostedReply(wire);
  const uses = reply.hosted;
  const ask = async (change: Partial<Reply> = {}) => {
    const stream = events(wire.encode({ ...reply, ...change }));
    return stopOf(await call(stream, { hostedTools: offered(wire) }));
  };

  it("do not affect other calls in the same reply", async () => {
    const { stop } = await ask();
    expect(stop.reason).toBe("tool_calls");
    const calls = stop.items.flatMap((item) =>
      item.type === "tool_call" ? [[item.name, item.arguments]] : [],
    );
    expect(calls).toEqual(FULL.calls?.map(({ name, pieces }) => [name, pieces.join("")]));
  });

  it("are listed in the stop event with their input", async () => {
    const { stop } = await ask();
    expect(stop.hosted).toEqual(
      uses.map(({ name, input, outcome, output }) =>
        expect.objectContaining({
          name,
          input,
          outcome,
          ...(output !== "" && { output: expect.stringContaining(output) }),
        }),
      ),
    );
  });

  it("do not add their results to the text", async () => {
    const { got, stop } = await ask();
    const expectedText = (FULL.text ?? []).join("");
    const stoppedText = stop.items.map((item) => (item.type === "text" ? item.text : "")).join("");
    expect([textIn(got, "text"), stoppedText]).toEqual([expectedText, expectedText]);
  });

  it("show their input while the model writes it", async () => {
    const { got } = await ask();
    for (const { name, input } of uses) expect(hostedText(got, name)).toBe(input);
    expect(got.findIndex((event) => event.type === "hosted_tool")).toBeLessThan(
      got.findIndex((event) => event.type === "text"),
    );
  });

  if (reply.citations) {
    it("report the sources of the text as citations", async () => {
      const { stop } = await ask();
      expect(stop.citations).toEqual([expect.objectContaining(CITATION)]);
    });
  }

  it("are absent from the stop event if no tool was used", async () => {
    const { stop } = await ask({ hosted: [], citations: [] });
    expect(stop).not.toHaveProperty("hosted");
    expect(stop).not.toHaveProperty("citations");
  });
}

/** The events of a reply that must succeed, and its stop. */
function stopOf({ events: got, error }: Outcome) {
  expect(error).toBeUndefined();
  const stop = got.at(-1);
  if (stop?.type !== "stop") throw new Error("the reply has no stop");
  return { got, stop };
}

function hostedText(got: readonly ModelEvent[], name: HostedToolName): string {
  return got
    .map((event) => (event.type === "hosted_tool" && event.name === name ? event.text : ""))
    .join("");
}
