import { describe, expect, it } from "vitest";
import { checkTeam, parseTeam } from "../../src/config/parse-team";
import { CONTEXT } from "./teams";

/** An operator without a sealing key for callers' keys. */
const WITHOUT_SEALING = { ...CONTEXT, literalKeyProblem: "SEALING_KEYS is not set. Set it." };
const SECRET = "caller-key-0123456789";
const SOURCE = `agents:
  - {id: a, backend: {type: openai, model: gpt-6.1-terra, api_key: ${SECRET}}}
  - {id: b, backend: {type: claude, api_key: ${SECRET}}}
`;

describe("a caller's key that cannot be stored", () => {
  it("is refused once at its line, and the error has advice, but not the key", () => {
    const refused = parseTeam(SOURCE, WITHOUT_SEALING);
    expect(refused).toEqual({
      ok: false,
      errors: [
        {
          code: "key_not_kept",
          need: "SEALING_KEYS",
          pointer: "/agents/0/backend/api_key",
          line: 2,
          column: 68,
          detail:
            "The service cannot store this key safely: SEALING_KEYS is not set. Set it. Or name the operator's key: ${OPENAI_API_KEY}.",
        },
      ],
      warnings: [],
    });
    expect(JSON.stringify([refused, checkTeam(SOURCE, WITHOUT_SEALING)])).not.toContain(SECRET);
  });

  it("is reported as a refusal by a check", () => {
    expect(checkTeam(SOURCE, WITHOUT_SEALING)).toMatchObject({
      runnable: false,
      errors: [],
      refusals: [{ code: "key_not_kept" }],
    });
  });

  it.each([
    { name: "the operator's key by name", key: "${OPENAI_API_KEY}" },
    { name: "no key", key: null },
  ])("is not needed if the config has $name", ({ key }) => {
    const line = key === null ? "" : `, api_key: "${key}"`;
    expect(
      parseTeam(
        `agents: [{id: a, backend: {type: openai, model: gpt-6.1-terra${line}}}]`,
        WITHOUT_SEALING,
      ).ok,
    ).toBe(true);
  });
});
