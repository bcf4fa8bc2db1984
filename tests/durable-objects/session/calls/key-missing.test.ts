import { expect, it } from "vitest";
import { keyMissing } from "../../../../durable-objects/session/calls/team-keys";

it("a call without its key fails with the setting's name, the host, and the command that sets it", () => {
  const failure = keyMissing({
    key: { from: "stored", name: "GROQ_API_KEY" },
    baseUrl: "https://api.groq.com/openai/v1",
  });
  expect(failure).toMatchObject({
    class: "bad_credentials",
    code: "key_missing",
    reached: false,
    usage: null,
  });
  expect(failure.message).toContain("GROQ_API_KEY for api.groq.com");
  expect(failure.message).toContain("npx wrangler secret put GROQ_API_KEY");
});
