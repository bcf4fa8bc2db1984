import { describe, expect, it } from "vitest";
import { keyMissing } from "../../../../durable-objects/session/calls/team-keys";

const BACKEND = {
  key: { from: "stored" as const, name: "GROQ_API_KEY" },
  baseUrl: "https://api.groq.com/openai/v1",
};

describe("a call without its key", () => {
  it("fails with the setting's name, the host, and the command that sets it", () => {
    const failure = keyMissing(BACKEND, false);
    expect(failure).toMatchObject({
      class: "bad_credentials",
      code: "key_missing",
      reached: false,
      usage: null,
    });
    expect(failure.message).toContain("GROQ_API_KEY for api.groq.com");
    expect(failure.message).toMatch(/`npx wrangler secret put GROQ_API_KEY`.*\.dev\.vars/);
  });

  it("fails on a local service with .dev.vars and `npm run setup` as the first remedy", () => {
    expect(keyMissing(BACKEND, true).message).toMatch(
      /\.dev\.vars.*`npm run setup`.*`npx wrangler secret put GROQ_API_KEY`/,
    );
  });
});
