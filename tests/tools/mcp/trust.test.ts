import { describe, expect, it } from "vitest";
import { parseToolTrust, trustOf } from "../../../src/tools/mcp/trust";

describe("trust", () => {
  const { trust, problems } = parseToolTrust(
    "read_only https://box.example.com/mcp#look_*, idempotent https://box.example.com/mcp#put,, nonsense",
  );
  it.each([
    { name: "look_up", hints: { readOnlyHint: true }, readOnly: true, idempotent: true },
    { name: "look_up", hints: {}, readOnly: true, idempotent: false },
    { name: "put", hints: { idempotentHint: true }, readOnly: false, idempotent: true },
    { name: "put", hints: {}, readOnly: false, idempotent: false },
    {
      name: "pay",
      hints: { readOnlyHint: true, idempotentHint: true },
      readOnly: false,
      idempotent: false,
    },
  ])(
    "of $name with $hints: read-only $readOnly, idempotent $idempotent",
    ({ name, hints, readOnly, idempotent }) => {
      expect(trustOf(trust, "https://box.example.com/mcp", { name, hints })).toEqual({
        readOnly,
        idempotent,
      });
    },
  );

  it("is bound to the server's address, and reports unreadable entries", () => {
    expect(
      trustOf(trust, "https://evil.example.com/mcp", {
        name: "look_up",
        hints: { readOnlyHint: true },
      }).readOnly,
    ).toBe(false);
    expect(problems).toEqual([expect.stringContaining("`nonsense`")]);
  });
});
