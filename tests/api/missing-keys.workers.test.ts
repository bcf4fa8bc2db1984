import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BACKEND_TYPES, keyReport } from "../../src/providers/registry";
import { hostById } from "../../src/providers/hosts";
import { post } from "../durable-objects/session/session-client";

/** Backend types that need a key at their default address. */
const TYPES_WITH_KEY = keyReport([]).flatMap(({ type, keyNames }) => {
  const facts = BACKEND_TYPES[type];
  const hasFixedAddress =
    facts?.served && facts.baseUrl !== null && !facts.baseUrl.includes("{") && facts.host !== null;
  return hasFixedAddress && !hostById(facts.host ?? "").keyOptional
    ? [{ type, key: keyNames[0] ?? "" }]
    : [];
});

describe("a run whose team lacks a key", () => {
  it("is tested for the most used backend types", () => {
    expect(TYPES_WITH_KEY.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["openai", "claude", "gemini", "grok", "groq"]),
    );
  });

  it.each(TYPES_WITH_KEY)(
    "for an agent of type $type is refused before it starts; the error states how to set $key",
    async ({ type, key }) => {
      expect(Object.keys(env)).not.toContain(key);
      const validAgent = {
        id: "good",
        backend: { type: "chatcompletion", model: "m", api_key: "literal" },
      };
      const config = {
        agents: [validAgent, { id: "keyless", backend: { type, model: "some-model" } }],
      };
      const response = await post("/api/runs", { question: "Hello?", config });
      expect([response.status, response.headers.get("location")]).toEqual([422, null]);
      const { code, errors } = await response.json<{
        code: string;
        errors: { code: string; pointer: string; detail: string }[];
      }>();
      expect(code).toBe("config_invalid");
      expect(errors.map((error) => [error.code, error.pointer])).toEqual([
        ["key_not_set", "/agents/1/backend"],
      ]);
      expect(errors[0]?.detail).toContain(
        `set ${key} in .dev.vars (deployed: with \`npx wrangler secret put ${key}\`)`,
      );
    },
  );
});
