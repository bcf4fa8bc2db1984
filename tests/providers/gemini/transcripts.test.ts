import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replay } from "./calls";

/**
 * Golden transcripts, read through the whole adapter: the stream of a server as bytes (`x.sse`),
 * and our events (`x.json`).
 */

const FOLDER = join(import.meta.dirname, "transcripts");
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => name.replace(/\.sse$/, ""));

it("transcripts exist", () => expect(NAMES.length).toBeGreaterThan(15));

it.each(NAMES)("%s", async (name) => {
  const bytes = Uint8Array.from(readFileSync(join(FOLDER, `${name}.sse`)));
  const type =
    bytes.at(0) === "d".charCodeAt(0) ? "text/event-stream" : "application/json; charset=UTF-8";
  const got = await replay(bytes, { "content-type": type });
  expect(got).toEqual(JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")));
});
