import { describe, expect, it } from "vitest";
import { shown } from "../../../src/tools/mcp/shown-text";

describe("shown text", () => {
  it("escapes invisible characters, and keeps visible ones", () => {
    expect(shown("a\u200bb\u0000c\u2066d é 漢字 👩‍💻\n\tz")).toContain(
      "a\\u{200b}b\\u{0}c\\u{2066}d é 漢字",
    );
    expect(shown("x\ufe0fy\n\tz")).toBe("x\ufe0fy\n\tz");
  });
});
