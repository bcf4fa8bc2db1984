import { afterEach, expect, it } from "vitest";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";

let tools: ToolServer | undefined;
afterEach(async () => {
  await tools?.close();
  tools = undefined;
});

/** Calls a tool. Returns the number in its response. */
async function callTool(name: string, key?: string): Promise<number> {
  const url = String(tools?.declared.find((tool) => tool["name"] === name)?.["url"]);
  const headers = { ...(key !== undefined && { "idempotency-key": key }), connection: "close" };
  const response = await fetch(url, { method: "POST", headers, body: "{}" });
  const { number }: { number: number } = JSON.parse(await response.text());
  return number;
}

it("returns the same number for a repeated note, and a new number for each order", async () => {
  tools = await startToolServer();
  const [note, order] = [await callTool("write_note", "a_1"), await callTool("place_order", "a_2")];
  expect(order).not.toBe(note);
  expect(await callTool("write_note", "a_1")).toBe(note);
  expect(await callTool("place_order", "a_2")).not.toBe(order);
  expect(tools.reached().map(({ name, key }) => `${name} ${key}`)).toEqual([
    ...["write_note a_1", "place_order a_2"],
    ...["write_note a_1", "place_order a_2"],
  ]);
});

it("`forget` deletes the records of calls whose keys begin with a text, and of no others", async () => {
  tools = await startToolServer();
  const [first, other] = [
    await callTool("write_note", "a_1"),
    await callTool("write_note", "ab_1"),
  ];
  tools.forget("a_");
  expect(tools.reached().map(({ key }) => key)).toEqual(["ab_1"]);
  expect(await callTool("write_note", "ab_1")).toBe(other);
  expect(await callTool("write_note", "a_1")).toBeGreaterThan(Math.max(first, other));
});

it("deletes the calls without a key, and no others", async () => {
  tools = await startToolServer();
  const [keyless, other] = [await callTool("write_note"), await callTool("write_note", "a_1")];
  tools.forgetKeyless();
  expect(tools.reached().map(({ key }) => key)).toEqual(["a_1"]);
  expect(await callTool("write_note", "a_1")).toBe(other);
  expect(await callTool("write_note")).toBeGreaterThan(Math.max(keyless, other));
});
