import { describe, expect, it } from "vitest";
import { escapeInvisible } from "../../../src/tools/mcp/shown-text";

describe("escapeInvisible", () => {
  it("escapes invisible characters, and does not change visible ones", () => {
    expect(escapeInvisible("a\u200bb\u0000c\u2066d é 漢字 👩‍💻\n\tz")).toContain(
      "a\\u{200b}b\\u{0}c\\u{2066}d é 漢字",
    );
    expect(escapeInvisible("x\ufe0fy\n\tz")).toBe("x\ufe0fy\n\tz");
  });
});
