import { describe, expect, it } from "vitest";
import { parseToolTrust, trustOf } from "../../../src/tools/mcp/trust";

describe("the trust in a tool", () => {
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
    "$name with the annotations $hints is read-only: $readOnly, and idempotent: $idempotent",
    ({ name, hints, readOnly, idempotent }) => {
      expect(trustOf(trust, "https://box.example.com/mcp", { name, hints })).toEqual({
        readOnly,
        idempotent,
      });
    },
  );

  it("applies only to the server's address; invalid entries are reported", () => {
    expect(
      trustOf(trust, "https://evil.example.com/mcp", {
        name: "look_up",
        hints: { readOnlyHint: true },
      }).readOnly,
    ).toBe(false);
    expect(problems).toEqual([expect.stringContaining("`nonsense`")]);
  });
});
