import { afterEach, expect, it } from "vitest";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";

let tools: ToolServer | undefined;
afterEach(async () => {
  await tools?.close();
  tools = undefined;
});

async function called(name: string, key?: string): Promise<number> {
  const url = String(tools?.declared.find((one) => one["name"] === name)?.["url"]);
  const headers = { ...(key !== undefined && { "idempotency-key": key }), connection: "close" };
  const response = await fetch(url, { method: "POST", headers, body: "{}" });
  const { number }: { number: number } = JSON.parse(await response.text());
  return number;
}

it("gives a note that comes again its number, and each order its own", async () => {
  tools = await startToolServer();
  const [note, order] = [await called("write_note", "a_1"), await called("place_order", "a_2")];
  expect(order).not.toBe(note);
  expect(await called("write_note", "a_1")).toBe(note);
  expect(await called("place_order", "a_2")).not.toBe(order);
  expect(tools.reached().map(({ name, key }) => `${name} ${key}`)).toEqual([
    ...["write_note a_1", "place_order a_2"],
    ...["write_note a_1", "place_order a_2"],
  ]);
});

it("releases the calls with keys of the given prefix, and no others", async () => {
  tools = await startToolServer();
  const [first, other] = [await called("write_note", "a_1"), await called("write_note", "ab_1")];
  tools.forget("a_");
  expect(tools.reached().map(({ key }) => key)).toEqual(["ab_1"]);
  expect(await called("write_note", "ab_1")).toBe(other);
  expect(await called("write_note", "a_1")).toBeGreaterThan(Math.max(first, other));
});

it("releases the calls without a key, and no others", async () => {
  tools = await startToolServer();
  const [nameless, other] = [await called("write_note"), await called("write_note", "a_1")];
  tools.forgetKeyless();
  expect(tools.reached().map(({ key }) => key)).toEqual(["a_1"]);
  expect(await called("write_note", "a_1")).toBe(other);
  expect(await called("write_note")).toBeGreaterThan(Math.max(nameless, other));
});
